// SPDX-License-Identifier: Apache-2.0
//
// A primary with a replica, and clients that meet the wrong one of them.
#include "backends/redis/wire.hpp"
#include "redis_fixture.hpp"
#include "support/fault_proxy.hpp"

#include <gmock/gmock.h>

#include <future>

namespace holdfast::test {
namespace {

class RedisTopology : public RedisTest {
 protected:
  RedisTopology()
      : RedisTest({"--repl-diskless-sync-delay", "0"}),
        replica({"--replicaof", "127.0.0.1", std::to_string(server.port()),
                 "--repl-diskless-sync-delay", "0"}) {
    EXPECT_TRUE(eventually([&] { return copy.text({"INFO", "replication"}).find(up) != npos; }));
  }

  static constexpr auto npos = std::string::npos;
  static constexpr auto up = "master_link_status:up";
  RedisServer replica;
  RawRedis copy{replica};
};

TEST_F(RedisTopology, a_client_of_a_replica_is_refused_and_never_crashes) {
  // It does not look for a primary for longer than that.
  const auto url = replica.url() + "?connect_timeout=10ms";
  for (int i = 0; i < 400; ++i) {
    const auto client = open(url);
    ASSERT_FALSE(client);
    ASSERT_EQ(client.error().code, Errc::unavailable) << client.error().message;
  }
}

// A waiter of a process that has its subscription elsewhere, or is gone.
class RedisHandOver : public RedisTopology {
 protected:
  static constexpr model::ProcessId process{0xabcdef};

  // Whatever was said before this has arrived when it arrives.
  std::vector<std::string> heard_by(RawRedis& listener) {
    raw.call({"PUBLISH", "end", "end"});
    std::vector<std::string> heard;
    while (true) {
      const auto reply = listener.receive();
      const std::string text(net::resp::text_of(*reply->element[reply->elements - 1]));
      if (text == "end") return heard;
      heard.push_back(text);
    }
  }
  void queue(const std::string& owner, model::RequestId request, model::ProcessId of) {
    model::Acquire wait{.owner = OwnerId::make(owner).value(),
                        .request = request,
                        .ttl = 10s,
                        .wait = true,
                        .process = of};
    raw.send(encode(backends::redis::Scripts({}), LockName::make("orders").value(),
                    {model::LockSpec::mutex(), std::move(wait)}, {.by_text = true}));
    ASSERT_EQ(raw.receive()->type, REDIS_REPLY_ARRAY);
  }

  Client client = open_client();
};

TEST_F(RedisHandOver, a_grant_that_was_not_made_is_not_told_to_the_subscribers_of_a_replica) {
  RawRedis there(replica);
  there.call({"SUBSCRIBE", backends::redis::channel_of(process)});
  there.call({"SUBSCRIBE", "end"});
  auto lease = client.mutex("orders").acquire();
  ASSERT_TRUE(lease);
  queue("elsewhere", model::RequestId{7}, process);
  EXPECT_TRUE(lease->release());
  EXPECT_EQ(heard_by(there), std::vector<std::string>{});
  EXPECT_EQ(raw.integer({"EXISTS", "hf:{orders}"}), 0) << "nobody has it";
}

TEST_F(RedisHandOver, a_tool_that_listens_to_everything_does_not_stand_for_a_process_that_is_gone) {
  RawRedis tool(server);
  tool.call({"PSUBSCRIBE", "*"});
  auto lease = client.mutex("orders").acquire();
  ASSERT_TRUE(lease);
  queue("gone", model::RequestId{7}, process);
  EXPECT_TRUE(lease->release());
  EXPECT_EQ(raw.integer({"EXISTS", "hf:{orders}"}), 0) << "nobody has it";
  EXPECT_EQ(heard_by(tool), std::vector<std::string>{});
}

TEST_F(RedisHandOver, a_message_follows_what_it_tells) {
  RawRedis there(server);
  there.call({"SUBSCRIBE", backends::redis::channel_of(process)});
  there.call({"SUBSCRIBE", "end"});
  auto lease = client.mutex("orders").acquire();
  ASSERT_TRUE(lease);
  queue("here", model::RequestId{7}, process);
  raw.call({"CONFIG", "RESETSTAT"});
  RawRedis monitor(server);
  monitor.call({"MONITOR"});
  EXPECT_TRUE(lease->release());
  const auto heard = heard_by(there);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_TRUE(heard[0].starts_with("g")) << heard[0];
  // The order in which the script did it.
  std::string steps;
  while (steps.find("end") == npos) steps += net::resp::text_of(*monitor.receive());
  EXPECT_LT(steps.find("\"NUMSUB\""), steps.find("\"ZADD\"")) << steps;
  EXPECT_LT(steps.find("\"ZADD\""), steps.find("\"PUBLISH\"")) << steps;
}

TEST_F(RedisHandOver, a_user_who_may_not_count_listeners_is_told_to_ask_again) {
  raw.call({"ACL", "SETUSER", "locks", "on", ">pw", "~hf:*", "resetchannels", "&hf:*", "+@all",
            "-pubsub"});
  const auto url = "redis://locks:pw@127.0.0.1:" + std::to_string(server.port());
  auto mine = open(url);
  auto other = open(url);
  ASSERT_TRUE(mine) << mine.error().message;
  ASSERT_TRUE(other) << other.error().message;
  for (const auto order : {Order::fifo, Order::barging}) {
    auto lease = mine->mutex("lock", order).acquire({.ttl = 60s});
    ASSERT_TRUE(lease);
    auto waiting = std::async(std::launch::async, [&] {
      return other->mutex("lock", order).acquire({.ttl = 60s, .wait = 60s});
    });
    ASSERT_TRUE(eventually([&] { return client.inspect("lock")->waiters.size() == 1; }));
    const auto before = std::chrono::steady_clock::now();
    EXPECT_TRUE(lease->release());
    auto next = waiting.get();
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_LT(std::chrono::steady_clock::now() - before, at_most(400ms));
    EXPECT_GT(next->fence(), lease->fence());
    EXPECT_TRUE(next->release());
  }
}

// One address in front of both servers.
class RedisAddress : public RedisTopology {
 protected:
  // A client at `address` waits for what the fixture's own client holds, and gets it when that one
  // releases.
  void hand_over(Client& waiting_client) {
    auto lease = client.mutex("orders").acquire({.ttl = 60s, .wait = 60s});
    ASSERT_TRUE(lease) << lease.error().message;
    auto waiting = std::async(std::launch::async, [&] {
      return waiting_client.mutex("orders").acquire({.ttl = 60s, .wait = 60s});
    });
    ASSERT_TRUE(eventually([&] { return client.inspect("orders")->waiters.size() == 1; }));
    EXPECT_TRUE(lease->release());
    auto next = waiting.get();
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_GT(next->fence(), lease->fence());
    EXPECT_TRUE(next->release());
  }
  long long listeners(RawRedis& at) { return at.call({"PUBSUB", "CHANNELS", "hf:*"})->elements; }

  FaultProxy address{server.port()};
  Client client = open_client();
};

TEST_F(RedisAddress, that_leads_to_primary_and_replica_in_turn_works_and_doctor_says_it) {
  // The command connection is the first, and the subscription the second.
  address.lead_to({server.port(), replica.port()});
  auto balanced = open(address.url());
  ASSERT_TRUE(balanced) << balanced.error().message;
  EXPECT_EQ(listeners(copy), 0) << "nobody listens to a replica";
  EXPECT_EQ(listeners(raw), 2);
  hand_over(*balanced);
  const auto found = balanced->diagnose();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(*found, testing::Contains(testing::HasSubstr("leads to several servers in turn")));

  address.lead_to({replica.port(), server.port()});
  auto replica_first = open(address.url());
  ASSERT_TRUE(replica_first) << replica_first.error().message;
  EXPECT_TRUE(eventually([&] { return listeners(raw) == 3; }));
}

TEST_F(RedisAddress, works_for_a_user_who_may_not_ask_who_the_server_is) {
  for (RawRedis* each : {&raw, &copy}) {
    each->call({"ACL", "SETUSER", "locks", "on", ">pw", "~hf:*", "resetchannels", "&hf:*", "+@all",
                "-info"});
  }
  address.lead_to({server.port(), replica.port()});
  auto balanced = open("redis://locks:pw@127.0.0.1:" + std::to_string(address.port()));
  ASSERT_TRUE(balanced) << balanced.error().message;
  EXPECT_EQ(listeners(copy), 0);
  hand_over(*balanced);
}

TEST_F(RedisAddress, whose_subscriptions_all_go_elsewhere_is_refused_with_the_reason) {
  // Two primaries: the commands go to one, and whatever comes later to the other.
  RedisServer other;
  address.lead_to({server.port(), other.port(), other.port(), other.port(), other.port(),
                   other.port(),  other.port(), other.port(), other.port(), other.port(),
                   other.port(),  other.port(), other.port(), other.port(), other.port(),
                   other.port(),  other.port(), other.port(), other.port(), other.port(),
                   other.port(),  other.port(), other.port(), other.port(), other.port()});
  const auto refused = open(address.url() + "?connect_timeout=300ms");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("several servers"));
}

TEST_F(RedisAddress, that_moves_and_keeps_connections_takes_the_subscription_along) {
  auto moving = open(address.url());
  ASSERT_TRUE(moving) << moving.error().message;
  hand_over(*moving);
  // As by Redis' own FAILOVER or an operator: nobody's connection is closed.
  address.lead_to({replica.port()});
  copy.call({"REPLICAOF", "NO", "ONE"});
  raw.call({"REPLICAOF", "127.0.0.1", std::to_string(replica.port())});
  EXPECT_TRUE(eventually([&] { return moving->mutex("mine").acquire().has_value(); }));
  EXPECT_TRUE(eventually([&] { return listeners(copy) == 1; })) << "the subscription moved too";
  client = Client(*open(replica.url()));
  hand_over(*moving);
}

}  // namespace
}  // namespace holdfast::test
