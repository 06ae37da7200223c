// SPDX-License-Identifier: Apache-2.0
//
// Replicas that count, and servers that are not what they were.
#include "backends/redis/wire.hpp"
#include "redis_fixture.hpp"
#include "support/fault_proxy.hpp"

#include <atomic>
#include <thread>

namespace holdfast::test {
namespace {

class RedisReplication : public RedisTest {
 protected:
  RedisReplication()
      : RedisTest({"--repl-diskless-sync-delay", "0"}),
        replica({"--replicaof", "127.0.0.1", std::to_string(server.port())}) {
    EXPECT_TRUE(eventually([&] { return has_replica(raw); }));
  }

  // A replica that is online may still be up to a second away from its first confirmation.
  static bool has_replica(RawRedis& master) {
    master.call({"SET", "probe", "1"});
    const auto info = master.text({"INFO", "replication"});
    return info.find("state=online,offset=") != std::string::npos &&
           info.find("state=online,offset=0,") == std::string::npos;
  }

  // Asks until the replica was quick enough.
  template <typename Ask>
  static Result<Lease> replicated(Ask ask) {
    Result<Lease> lease = ask();
    eventually([&] {
      if (lease || lease.error().code != Errc::not_replicated) return true;
      lease = ask();
      return false;
    });
    return lease;
  }

  RedisServer replica;
};

TEST_F(RedisReplication, a_grant_is_on_the_replica_when_it_is_told) {
  auto client = open_client("?replicas=1&replica_timeout=300ms");
  RawRedis copy(replica);
  for (int i = 0; i < 50; ++i) {
    const std::string name = "orders:" + std::to_string(i);
    auto lease = replicated([&] { return client.mutex(name).acquire(); });
    ASSERT_TRUE(lease) << lease.error().message;
    EXPECT_EQ(copy.integer({"EXISTS", "hf:{" + name + "}"}), 1);
  }
}

TEST_F(RedisReplication, a_grant_that_no_replica_confirms_is_given_back) {
  auto client = open_client("?replicas=1&replica_timeout=50ms");
  replica.stop();
  auto lease = client.mutex("orders").acquire();
  ASSERT_FALSE(lease);
  EXPECT_EQ(lease.error().code, Errc::not_replicated) << lease.error().message;
  EXPECT_TRUE(eventually([&] { return raw.integer({"EXISTS", "hf:{orders}"}) == 0; }));
  replica.cont();
  EXPECT_TRUE(eventually([&] { return client.mutex("orders").acquire().has_value(); }));
}

TEST_F(RedisReplication, more_replicas_than_there_are_refuse_every_lock) {
  auto client = open_client("?replicas=2&replica_timeout=20ms");
  auto lease = client.mutex("orders").acquire();
  ASSERT_FALSE(lease);
  EXPECT_EQ(lease.error().code, Errc::not_replicated);
}

TEST_F(RedisReplication, renewals_that_no_replica_confirms_do_not_move_the_deadline) {
  auto client = open_client("?replicas=1&replica_timeout=30ms");
  auto lease = replicated([&] { return client.mutex("orders").acquire({.ttl = 900ms}); });
  ASSERT_TRUE(lease) << lease.error().message;
  replica.stop();
  const auto before = std::chrono::steady_clock::now();
  EXPECT_TRUE(eventually([&] { return lease->lost().stop_requested(); }));
  EXPECT_LT(std::chrono::steady_clock::now() - before, at_most(1s));
  replica.cont();
}

TEST_F(RedisReplication, a_waiter_starts_only_when_the_replica_has_its_lease) {
  auto client = open_client("?replicas=1&replica_timeout=300ms");
  auto first = replicated([&] { return client.mutex("orders").acquire(); });
  ASSERT_TRUE(first) << first.error().message;
  std::atomic<bool> on_replica = false;
  std::jthread waiter([&] {
    auto second =
        replicated([&] { return client.mutex("orders").acquire({.ttl = 30s, .wait = 60s}); });
    ASSERT_TRUE(second) << second.error().message;
    RawRedis copy(replica);
    // A full lease, not the short claim that the message was about.
    on_replica = copy.integer({"PTTL", "hf:{orders}"}) > 1000;
  });
  EXPECT_TRUE(eventually([&] { return client.inspect("orders")->waiters.size() == 1; }));
  EXPECT_TRUE(first->release());
  waiter.join();
  EXPECT_TRUE(on_replica);
}

TEST_F(RedisReplication, many_grants_share_one_wait) {
  auto client = open_client("?replicas=1&replica_timeout=300ms");
  raw.call({"CONFIG", "RESETSTAT"});
  std::vector<std::jthread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        auto lease =
            replicated([&] { return client.mutex("orders:" + std::to_string(t)).acquire(); });
        EXPECT_TRUE(lease) << lease.error().message;
      }
    });
  }
  threads.clear();
  const auto stats = raw.text({"INFO", "commandstats"});
  const auto at = stats.find("cmdstat_wait:calls=");
  ASSERT_NE(at, std::string::npos);
  EXPECT_LT(std::stoi(stats.substr(at + 19)), 16 * 20);
}

class RedisChange : public RedisTest {};

TEST_F(RedisChange, leases_are_lost_at_once_when_the_server_comes_back_empty) {
  auto client = open_client();
  auto lease = client.mutex("orders").acquire({.ttl = 60s});
  ASSERT_TRUE(lease);
  server.restart();
  EXPECT_TRUE(eventually([&] { return lease->lost().stop_requested(); }, 5s));
  auto next = client.mutex("orders").acquire({.wait = 30s});
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_GT(next->fence(), lease->fence());
}

TEST_F(RedisChange, leases_that_the_server_still_knows_survive_a_lost_connection) {
  auto client = open_client();
  auto lease = client.mutex("orders").acquire({.ttl = 60s, .renew = false});
  ASSERT_TRUE(lease);
  raw.call({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  // The first word on the new connection is the confirmation of the lease.
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(eventually([&] { return client.inspect("orders").has_value(); }));
  }
  EXPECT_FALSE(lease->lost().stop_requested());
  EXPECT_TRUE(lease->valid());
  EXPECT_TRUE(lease->release());
}

TEST_F(RedisChange, data_taken_over_from_another_server_without_the_lock_loses_the_lease) {
  RedisServer other({"--repl-diskless-sync-delay", "0"});
  auto client = open_client();
  auto lease = client.mutex("orders").acquire({.ttl = 60s});
  ASSERT_TRUE(lease);
  const auto fence = lease->fence();
  raw.call({"REPLICAOF", "127.0.0.1", std::to_string(other.port())});
  ASSERT_TRUE(eventually([&] {
    return raw.text({"INFO", "replication"}).find("master_link_status:up") != std::string::npos;
  }));
  raw.call({"REPLICAOF", "NO", "ONE"});
  EXPECT_TRUE(eventually([&] { return lease->lost().stop_requested(); }, 5s));
  auto next = client.mutex("orders").acquire({.wait = 30s});
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_GT(next->fence(), fence);
}

TEST_F(RedisChange, fences_go_on_above_those_that_a_snapshot_does_not_know) {
  auto client = open_client();
  auto held = client.mutex("held").acquire({.ttl = 60s});
  ASSERT_TRUE(held);
  raw.call({"SAVE"});
  Fence last = 0;
  for (int i = 0; i < 50; ++i) {
    auto lease = client.mutex("orders").acquire();
    ASSERT_TRUE(lease);
    EXPECT_GT(lease->fence(), last);
    last = lease->fence();
  }
  server.restart();
  // The first word on the new connection is the confirmation of `held`, which mints nothing.
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(eventually([&] { return client.inspect("held").has_value(); }));
  }
  auto next = client.mutex("orders").acquire({.wait = 30s});
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_GT(next->fence(), last);
}

// A lock that is held, a snapshot that knows of it, and fences that it does not know.
class RedisFences : public RedisTest {
 protected:
  Fence spend(Client& client) {
    raw.call({"SAVE"});
    Fence last = 0;
    for (int i = 0; i < 50; ++i) {
      auto lease = client.mutex("orders").acquire();
      EXPECT_TRUE(lease);
      last = lease->fence();
    }
    return last;
  }
};

TEST_F(RedisFences, a_re_entry_after_a_return_from_a_snapshot_does_not_bring_back_old_fences) {
  auto client = open_client();
  auto ledger = client.reentrant("ledger");
  auto held = ledger.acquire({.ttl = 60s, .owner = "job"});
  ASSERT_TRUE(held) << held.error().message;
  const Fence last = spend(client);
  server.restart();
  auto again = ledger.acquire({.ttl = 60s, .wait = 30s, .owner = "job"});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->fence(), held->fence()) << "it shares the fence and mints nothing";
  auto next = client.mutex("orders").acquire();
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_GT(next->fence(), last);
}

TEST_F(RedisFences, a_command_that_waited_for_the_connection_gets_no_old_fence) {
  FaultProxy line(server.port());
  auto opened = open(line.url());
  ASSERT_TRUE(opened) << opened.error().message;
  Client& client = *opened;
  auto other = open_client();
  auto held = other.mutex("held").acquire({.ttl = 60s});
  ASSERT_TRUE(held);
  const Fence last = spend(client);
  line.pause();
  server.restart();
  // Refused, so that the script is there when the other command comes, and nothing was minted.
  ASSERT_TRUE(eventually([&] {
    const auto refused = other.mutex("held").acquire();
    return !refused && refused.error().code == Errc::busy;
  }));
  const auto before = line.counts().connections;
  line.delay_replies(60ms);
  line.cut();
  line.resume();
  // Asked for while the new connection is not yet let in.
  ASSERT_TRUE(eventually([&] { return line.counts().connections > before; }));
  auto next = client.mutex("orders").acquire({.wait = 30s});
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_GT(next->fence(), last);
}

TEST_F(RedisFences, are_compared_with_the_clock_in_each_grant_where_the_counter_cannot_be_raised) {
  auto client = open_client();
  auto held = client.mutex("held").acquire({.ttl = 60s});
  ASSERT_TRUE(held);
  const Fence last = spend(client);
  // Comes back full: nothing can be raised, but leases are renewed and released.
  server.kill();
  server.restart();
  raw = RawRedis(server);
  raw.call({"CONFIG", "SET", "maxmemory", "1"});
  raw.call({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  ASSERT_TRUE(eventually([&] {
    const auto refused = client.mutex("orders").acquire();
    return !refused && refused.error().message.find("memory") != std::string::npos;
  }));
  EXPECT_TRUE(held->release());
  raw.call({"CONFIG", "SET", "maxmemory", "0"});
  raw.call({"SET", "hf:fence", std::to_string(last - 100)});
  auto next = client.mutex("orders").acquire();
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_GT(next->fence(), last);
}

TEST_F(RedisFences, are_raised_by_every_connection_before_anything_else) {
  auto client = open_client();
  raw.call({"SET", "hf:fence", "1500000000000000"});
  raw.call({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  EXPECT_TRUE(eventually([&] { return raw.integer({"INCR", "hf:fence"}) > 1'600'000'000'000'000; }))
      << "before anybody asked for a lock";
}

TEST_F(RedisFences, are_all_compared_with_the_clock_if_the_url_says_so) {
  auto client = open_client("?fence_clock=always");
  auto first = client.mutex("first").acquire();
  ASSERT_TRUE(first);
  // As behind a proxy that has changed to another server without a word.
  raw.call({"SET", "hf:fence", "1500000000000000"});
  auto next = client.mutex("orders").acquire();
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence(), first->fence());
}

TEST_F(RedisChange, a_user_who_may_not_ask_who_the_server_is_still_confirms_after_a_reconnect) {
  raw.call({"ACL", "SETUSER", "locks", "on", ">pw", "~hf:*", "resetchannels", "&hf:*", "+@all",
            "-info"});
  auto client = open("redis://locks:pw@127.0.0.1:" + std::to_string(server.port()));
  ASSERT_TRUE(client) << client.error().message;
  auto lease = client->mutex("orders").acquire({.ttl = 60s});
  ASSERT_TRUE(lease);
  raw.call({"DEL", "hf:{orders}"});
  raw.call({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  EXPECT_TRUE(eventually([&] { return lease->lost().stop_requested(); }, 5s));
}

TEST_F(RedisChange, many_waiters_whose_processes_are_gone_are_passed_over_at_once) {
  auto client = open_client();
  auto holder = client.mutex("orders").acquire({.ttl = 60s});
  ASSERT_TRUE(holder);
  // Each with a process of its own that nobody listens for.
  const backends::redis::Scripts scripts({});
  for (std::uint64_t i = 1; i <= 2000; ++i) {
    model::Acquire wait{.owner = OwnerId::make("owner" + std::to_string(i)).value(),
                        .request = model::RequestId{i},
                        .ttl = 10s,
                        .wait = true,
                        .process = model::ProcessId{i}};
    raw.send(encode(scripts, LockName::make("orders").value(),
                    {model::LockSpec::mutex(), std::move(wait)}, {}));
  }
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(raw.receive()->type, REDIS_REPLY_ARRAY);
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(holder->release(), Released::released);
  EXPECT_LT(std::chrono::steady_clock::now() - before, at_most(400ms));
  EXPECT_EQ(raw.integer({"EXISTS", "hf:{orders}"}), 0);
}

TEST_F(RedisChange, what_an_operators_hand_left_of_a_lock_belongs_to_nobody) {
  auto client = open_client();
  auto one = client.read_write("orders").acquire_shared({.renew = false});
  auto two = client.read_write("orders").acquire_shared({.renew = false});
  ASSERT_TRUE(one && two);
  raw.call({"DEL", "hf:{orders}"});
  EXPECT_EQ(one->release(), Released::already_expired);
  EXPECT_EQ(client.force_release("orders", "test").error().code, Errc::not_held);
  EXPECT_EQ(two->release(), Released::already_expired);
  auto writer = client.mutex("orders").acquire();
  EXPECT_TRUE(writer) << writer.error().message;
}

TEST_F(RedisChange, a_lease_without_renewal_is_confirmed_but_not_extended) {
  auto client = open_client();
  auto lease = client.mutex("orders").acquire({.ttl = 60s, .renew = false});
  ASSERT_TRUE(lease);
  const auto is_getting_older = [&] { return raw.integer({"PTTL", "hf:{orders}"}) < 59'800; };
  ASSERT_TRUE(eventually(is_getting_older));
  raw.call({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(eventually([&] { return client.inspect("orders").has_value(); }));
  }
  EXPECT_TRUE(is_getting_older());
}

}  // namespace
}  // namespace holdfast::test
