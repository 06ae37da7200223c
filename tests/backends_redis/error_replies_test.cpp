// SPDX-License-Identifier: Apache-2.0
//
// Every error that a server can give, provoked on a real one.
#include "backends/redis/error_replies.hpp"

#include "redis_fixture.hpp"

#include <atomic>
#include <filesystem>
#include <future>
#include <thread>

namespace holdfast::test {
namespace {

using backends::redis::judge;
using Then = backends::redis::Refusal::Then;

class RedisErrors : public RedisTest {
 protected:
  RedisErrors()
      : RedisTest({"--enable-debug-command", "yes", "--busy-reply-threshold", "20",
                   "--enable-protected-configs", "yes"}) {}

  Client client = open_client();
};

TEST_F(RedisErrors, a_forgotten_script_is_loaded_again) {
  raw.call({"SCRIPT", "FLUSH"});
  auto lease = client.mutex("orders").acquire();
  ASSERT_TRUE(lease) << lease.error().message;
  raw.call({"SCRIPT", "FLUSH"});
  EXPECT_TRUE(lease->release());
}

TEST_F(RedisErrors, something_else_under_the_name_is_a_spec_mismatch_and_left_alone) {
  raw.call({"RPUSH", "hf:{orders}", "a", "b"});
  auto lease = client.mutex("orders").acquire();
  ASSERT_FALSE(lease);
  EXPECT_EQ(lease.error().code, Errc::spec_mismatch);
  EXPECT_EQ(raw.integer({"LLEN", "hf:{orders}"}), 2);
  EXPECT_EQ(client.force_release("orders", "test").error().code, Errc::spec_mismatch);
  EXPECT_EQ(raw.integer({"LLEN", "hf:{orders}"}), 2);
}

TEST_F(RedisErrors, a_state_of_a_newer_version_is_refused_and_left_alone) {
  raw.call({"SET", "hf:{orders}", "9 from the future"});
  auto lease = client.mutex("orders").acquire();
  ASSERT_FALSE(lease);
  EXPECT_EQ(lease.error().code, Errc::unsupported);
  EXPECT_EQ(raw.text({"GET", "hf:{orders}"}), "9 from the future");
}

TEST_F(RedisErrors, a_full_server_refuses_new_locks_and_still_renews_and_releases) {
  auto held = client.mutex("held").acquire({.ttl = 10s});
  ASSERT_TRUE(held);
  raw.call({"CONFIG", "SET", "maxmemory", "1"});
  auto refused = client.mutex("orders").acquire();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  EXPECT_NE(refused.error().message.find("memory"), std::string::npos) << refused.error().message;
  EXPECT_EQ(raw.integer({"EXISTS", "hf:{orders}"}), 0);
  EXPECT_TRUE(held->release());
}

TEST_F(RedisErrors, a_busy_server_is_asked_again_until_it_answers) {
  std::thread script(
      [this] { RawRedis(server.port(), 60s).call({"EVAL", "while true do end", "0"}); });
  const auto is_busy = [&] { return raw.text({"PING"}).starts_with("BUSY"); };
  EXPECT_TRUE(eventually(is_busy));
  auto asking =
      std::async(std::launch::async, [&] { return client.mutex("orders").acquire({.wait = 30s}); });
  EXPECT_EQ(asking.wait_for(100ms), std::future_status::timeout);
  EXPECT_EQ(raw.text({"SCRIPT", "KILL"}), "OK");
  script.join();
  const auto lease = asking.get();
  EXPECT_TRUE(lease) << lease.error().message;
}

TEST_F(RedisErrors, a_loading_server_is_asked_again_until_it_answers) {
  for (int i = 0; i < 200; ++i) raw.call({"SET", "filler:" + std::to_string(i), "x"});
  raw.call({"CONFIG", "SET", "key-load-delay", "1000"});  // microseconds for each key
  raw.call({"CONFIG", "SET", "loading-process-events-interval-bytes", "1024"});
  std::atomic<bool> is_over = false;
  std::thread reload([&] {
    RawRedis(server.port(), 60s).call({"DEBUG", "RELOAD"});
    is_over = true;
  });
  EXPECT_TRUE(eventually([&] { return raw.text({"PING"}).starts_with("LOADING") || is_over; }));
  auto lease = client.mutex("orders").acquire({.wait = 30s});
  EXPECT_TRUE(lease) << lease.error().message;
  reload.join();
}

TEST_F(RedisErrors, a_replica_is_unavailable_until_it_is_a_master_again) {
  raw.call({"REPLICAOF", "127.0.0.1", std::to_string(free_port())});
  auto refused = client.mutex("orders").acquire();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  EXPECT_NE(refused.error().message.find("replica"), std::string::npos) << refused.error().message;
  raw.call({"REPLICAOF", "NO", "ONE"});
  auto lease = client.mutex("orders").acquire({.wait = 30s});
  EXPECT_TRUE(lease) << lease.error().message;
}

TEST_F(RedisErrors, a_replica_without_its_master_is_unavailable) {
  raw.call({"CONFIG", "SET", "replica-serve-stale-data", "no"});
  raw.call({"REPLICAOF", "127.0.0.1", std::to_string(free_port())});
  auto refused = client.mutex("orders").acquire();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  EXPECT_NE(refused.error().message.find("MASTERDOWN"), std::string::npos)
      << refused.error().message;
}

TEST_F(RedisErrors, too_few_replicas_for_the_servers_own_rule_is_unavailable) {
  raw.call({"CONFIG", "SET", "min-replicas-to-write", "1"});
  auto refused = client.mutex("orders").acquire();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  EXPECT_NE(refused.error().message.find("NOREPLICAS"), std::string::npos)
      << refused.error().message;
}

TEST_F(RedisErrors, a_server_that_cannot_save_is_unavailable) {
  const auto folder = server.folder() / "gone";
  std::filesystem::create_directory(folder);
  raw.call({"CONFIG", "SET", "dir", folder.string()});
  std::filesystem::remove(folder);
  raw.call({"CONFIG", "SET", "save", "3600 1"});
  raw.call({"SET", "dirty", "1"});
  raw.call({"BGSAVE"});
  ASSERT_TRUE(eventually([&] {
    return raw.text({"INFO", "persistence"}).find("rdb_last_bgsave_status:err") !=
           std::string::npos;
  }));
  auto refused = client.mutex("orders").acquire();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  EXPECT_NE(refused.error().message.find("MISCONF"), std::string::npos) << refused.error().message;
}

TEST_F(RedisErrors, a_server_that_wants_a_login_says_so_at_open) {
  raw.call({"CONFIG", "SET", "requirepass", "s3cret"});
  std::string message;
  EXPECT_EQ(error_of_open(server.url(), &message), Errc::unavailable);
  EXPECT_NE(message.find("NOAUTH"), std::string::npos) << message;
  const auto port = std::to_string(server.port());
  EXPECT_EQ(error_of_open("redis://:wrong@127.0.0.1:" + port, &message), Errc::unavailable);
  EXPECT_NE(message.find("WRONGPASS"), std::string::npos) << message;
  EXPECT_EQ(message.find("wrong@"), std::string::npos) << message;
  EXPECT_EQ(error_of_open("redis://:s3cret@127.0.0.1:" + port), Errc{});
}

TEST_F(RedisErrors, a_user_without_the_right_to_scripts_or_channels_is_refused_at_open) {
  const auto port = std::to_string(server.port());
  raw.call({"ACL", "SETUSER", "noeval", "on", ">pw", "~*", "resetchannels", "&*", "+@all",
            "-@scripting"});
  raw.call({"ACL", "SETUSER", "nochannel", "on", ">pw", "~*", "resetchannels", "+@all"});
  raw.call({"ACL", "SETUSER", "nokeys", "on", ">pw", "~other:*", "resetchannels", "&*", "+@all"});
  Words locks = {"ACL",           "SETUSER", "locks", "on",      ">pw",        "~hf:*",
                 "resetchannels", "&hf:*",   "+@all", "-@admin", "-@dangerous"};
  // Every CLIENT is dangerous there, and a subscriber asks for its id.
  if (!redis_version().has(7, 0)) locks.emplace_back("+client");
  raw.call(locks);
  for (const std::string user : {"noeval", "nochannel", "nokeys"}) {
    std::string message;
    EXPECT_EQ(error_of_open("redis://" + user + ":pw@127.0.0.1:" + port, &message),
              Errc::unavailable)
        << user;
    EXPECT_NE(message.find("NOPERM"), std::string::npos) << message;
  }
  EXPECT_EQ(error_of_open("redis://locks:pw@127.0.0.1:" + port), Errc{});
}

TEST_F(RedisErrors, a_right_taken_away_later_is_an_error_and_changes_nothing) {
  const auto port = std::to_string(server.port());
  raw.call({"ACL", "SETUSER", "locks", "on", ">pw", "~hf:*", "resetchannels", "&hf:*", "+@all"});
  auto other = open("redis://locks:pw@127.0.0.1:" + port);
  ASSERT_TRUE(other) << other.error().message;
  raw.call({"ACL", "SETUSER", "locks", "-incr"});
  auto refused = other->mutex("orders").acquire();
  ASSERT_FALSE(refused);
  // The server's words for it are not among those we vouch for.
  EXPECT_EQ(refused.error().code, Errc::outcome_unknown);
  EXPECT_EQ(raw.integer({"EXISTS", "hf:{orders}"}), 0);
}

TEST(RedisClusterErrors, a_cluster_is_refused_at_open_with_the_reason) {
  RedisServer server({"--cluster-enabled", "yes"});
  RawRedis raw(server);
  auto down = open(server.url() + "?connect_timeout=500ms");
  ASSERT_FALSE(down);
  EXPECT_NE(down.error().message.find("cluster"), std::string::npos) << down.error().message;
  // ADDSLOTSRANGE came with 7.0.
  std::vector<std::string> all_slots = {"CLUSTER", "ADDSLOTS"};
  for (int slot = 0; slot < 16384; ++slot) all_slots.push_back(std::to_string(slot));
  EXPECT_EQ(raw.text(all_slots), "OK");
  ASSERT_TRUE(eventually(
      [&] { return raw.text({"CLUSTER", "INFO"}).find("cluster_state:ok") != std::string::npos; }));
  auto up = open(server.url() + "?connect_timeout=3s");
  ASSERT_FALSE(up);
  EXPECT_EQ(up.error().code, Errc::unsupported) << up.error().message;
}

TEST(RedisErrorReplies, every_known_word_has_an_answer) {
  struct Row {
    const char* reply;
    Then then;
    Errc code;
  };
  for (
      const auto& [reply, then, code] : std::initializer_list<Row>{
          {"NOSCRIPT No matching script.", Then::load_script, Errc::unavailable},
          {"LOADING Redis is loading the dataset in memory", Then::retry, Errc::unavailable},
          {"BUSY Redis is busy running a script.", Then::retry, Errc::unavailable},
          {"MASTERDOWN Link with MASTER is down", Then::retry, Errc::unavailable},
          {"CLUSTERDOWN Hash slot not served", Then::retry, Errc::unavailable},
          {"TRYAGAIN Multiple keys request", Then::retry, Errc::unavailable},
          {"READONLY You can't write against a read only replica.", Then::change_server,
           Errc::unavailable},
          {"MOVED 3999 127.0.0.1:6381", Then::give_up, Errc::unsupported},
          {"CROSSSLOT Keys in request don't hash", Then::give_up, Errc::unsupported},
          {"OOM command not allowed", Then::give_up, Errc::unavailable},
          {"MISCONF Redis is configured to save", Then::give_up, Errc::unavailable},
          {"NOREPLICAS Not enough good replicas", Then::give_up, Errc::unavailable},
          {"NOAUTH Authentication required.", Then::give_up, Errc::unavailable},
          {"NOPERM this user has no permissions", Then::give_up, Errc::unavailable},
          {"WRONGTYPE Operation against a key", Then::give_up, Errc::spec_mismatch},
          // As a script of Redis 7 says it, and one of Redis 6.2.
          {"OOM command not allowed script: 6bb6, on @user_script:5.", Then::give_up,
           Errc::unavailable},
          // A right that was taken away since the store was opened may end a script halfway.
          {"ERR The user executing the script can't run this command or subcommand script: 6bb6, "
           "on @user_script:1.",
           Then::give_up, Errc::outcome_unknown},
          {"ERR Error running script (call to f_62): @user_script:292: WRONGTYPE Operation against",
           Then::give_up, Errc::spec_mismatch},
          {"ERR Error running script (call to f_0a): @user_script:1: @user_script: 1: -OOM command "
           "not allowed when used memory > 'maxmemory'.",
           Then::give_up, Errc::unavailable},
          {"ERR Error running script (call to f_0a): @user_script:1: @user_script: 1: -NOREPLICAS "
           "Not enough good replicas to write.",
           Then::give_up, Errc::unavailable},
          {"ERR Error running script (call to f_0a): @user_script:1: @user_script: 1: -MISCONF "
           "Redis is configured to save RDB snapshots",
           Then::give_up, Errc::unavailable},
          {"ERR Error running script (call to f_0a): @user_script:1: @user_script: 1: -READONLY "
           "You "
           "can't write against a read only replica.",
           Then::change_server, Errc::unavailable},
          {"ERR Error running script (call to f_ec): @user_script:1: @user_script: 1: The user "
           "executing the script can't access at least one of the keys",
           Then::give_up, Errc::outcome_unknown},
          {"ERR Error running script (call to f_1b): @user_script:7: attempt to index a nil value",
           Then::give_up, Errc::outcome_unknown},
          {"ERR Error running script (call to f_1b)", Then::give_up, Errc::outcome_unknown},
          {"ERR something new", Then::give_up, Errc::outcome_unknown}}) {
    const auto refusal = judge(reply, "peer:1");
    EXPECT_EQ(refusal.then, then) << reply;
    EXPECT_EQ(refusal.error.code, code) << reply;
    EXPECT_TRUE(refusal.error.message.starts_with("peer:1")) << refusal.error.message;
  }
}

}  // namespace
}  // namespace holdfast::test
