// SPDX-License-Identifier: Apache-2.0
//
// node-redlock on the same five servers and the same keys: its scripts, sent as it sends them.
#include "faults_redlock/redlock_fixture.hpp"

#include <future>

namespace holdfast::faults {
namespace {

using std::chrono::milliseconds;

class NodeRedlock {
 public:
  explicit NodeRedlock(const std::vector<std::uint16_t>& ports) {
    for (const auto port : ports) servers_.push_back(std::make_unique<test::RawRedis>(port));
  }
  // What it does not get as a whole it gives back.
  bool acquire(const std::string& key, const std::string& token, milliseconds ttl) {
    const bool got = votes(acquire_script, {key, token, std::to_string(ttl.count())}) >= 3;
    if (!got) votes(release_script, {key, token});
    return got;
  }
  bool extend(const std::string& key, const std::string& token, milliseconds ttl) {
    return votes(extend_script, {key, token, std::to_string(ttl.count())}) >= 3;
  }
  bool release(const std::string& key, const std::string& token) {
    return votes(release_script, {key, token}) >= 3;
  }
  std::vector<std::string> tokens(const std::string& key) {
    std::vector<std::string> all;
    for (auto& each : servers_) all.push_back(each->text({"GET", key}));
    return all;
  }

 private:
  static constexpr auto acquire_script = R"(
    for i, key in ipairs(KEYS) do
      if redis.call("exists", key) == 1 then return 0 end
    end
    for i, key in ipairs(KEYS) do redis.call("set", key, ARGV[1], "PX", ARGV[2]) end
    return #KEYS)";
  static constexpr auto extend_script = R"(
    for i, key in ipairs(KEYS) do
      if redis.call("get", key) ~= ARGV[1] then return 0 end
    end
    for i, key in ipairs(KEYS) do redis.call("set", key, ARGV[1], "PX", ARGV[2]) end
    return #KEYS)";
  static constexpr auto release_script = R"(
    local count = 0
    for i, key in ipairs(KEYS) do
      if redis.pcall("get", key) == ARGV[1] then
        redis.pcall("del", key)
        count = count + 1
      end
    end
    return count)";

  int votes(const std::string& script, const std::vector<std::string>& key_and_arguments) {
    std::vector<std::string> words{"EVAL", script, "1"};
    words.insert(words.end(), key_and_arguments.begin(), key_and_arguments.end());
    int sum = 0;
    for (auto& each : servers_) sum += each->integer(words) == 1 ? 1 : 0;
    return sum;
  }

  std::vector<std::unique_ptr<test::RawRedis>> servers_;
};

class Interop : public RedlockTest {
 protected:
  // Of the key on one server.
  Micros left_at(std::size_t at) {
    return std::chrono::milliseconds(test::RawRedis(server(at)).integer({"PTTL", "orders"}));
  }

  const std::string token = "00112233445566778899aabbccddeeff";
  const Client ours = open_all("profile=redlock-js&retries=0");
  NodeRedlock theirs{ports()};
};

TEST_F(Interop, what_we_hold_node_redlock_does_not_get) {
  auto lease = ours.mutex("orders").acquire({.ttl = 30s, .wait = 20s, .renew_every = 100ms});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_FALSE(theirs.acquire("orders", token, 5s));
  const std::string owner(lease->owner().view());
  EXPECT_THAT(owner, testing::MatchesRegex("[0-9a-f]{32}"));
  // A member that it had for a moment is repaired by a renewal.
  EXPECT_TRUE(
      eventually([&] { return theirs.tokens("orders") == std::vector<std::string>(5, owner); }));
  // Our renewals keep their key.
  const auto end = [&] { return SteadyClock::now() + left_at(2); };
  const auto first_end = end();
  EXPECT_TRUE(eventually([&] {
    EXPECT_FALSE(theirs.acquire("orders", token, 5s));
    return end() > first_end + 300ms;
  }));
  EXPECT_TRUE(lease->valid());
  EXPECT_TRUE(is_released(lease->release()));
  EXPECT_TRUE(eventually([&] { return theirs.acquire("orders", token, 5s); }));
}

TEST_F(Interop, what_node_redlock_holds_we_do_not_get) {
  ASSERT_TRUE(theirs.acquire("orders", token, 60s));
  EXPECT_EQ(code_of(decided([&] { return ours.mutex("orders").try_acquire(); })), "busy");
  EXPECT_TRUE(theirs.extend("orders", token, 60s));
  EXPECT_EQ(code_of(decided([&] { return ours.mutex("orders").acquire({.wait = 300ms}); })),
            "timed_out");
  EXPECT_EQ(theirs.tokens("orders"), std::vector<std::string>(5, token)) << "it is untouched";
  EXPECT_TRUE(theirs.release("orders", token));
  auto lease = ours.mutex("orders").acquire({.wait = 20s});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_FALSE(theirs.release("orders", token)) << "it is not theirs";
  EXPECT_TRUE(is_released(lease->release()));
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Interop, with_few_members_left_both_exclude_each_other) {
  ASSERT_TRUE(theirs.acquire("orders", token, 60s));
  // Two members forgot their key: we may have those two only.
  for (const std::size_t at : {0, 1}) test::RawRedis(server(at)).call({"FLUSHALL"});
  EXPECT_EQ(code_of(decided([&] { return ours.mutex("orders").try_acquire(); })), "busy");
  EXPECT_TRUE(eventually([&] { return theirs.tokens("orders")[0].empty(); }));
  EXPECT_TRUE(theirs.release("orders", token));
}

TEST_F(Interop, a_waiter_of_ours_comes_soon_after_their_release) {
  ASSERT_TRUE(theirs.acquire("orders", token, 60s));
  const auto before = commands_sent();
  auto waiting = std::async(std::launch::async,
                            [this] { return ours.mutex("orders").acquire({.wait = 40s}); });
  ASSERT_TRUE(eventually([&] { return commands_sent() >= before + size(); }));
  EXPECT_EQ(waiting.wait_for(0s), std::future_status::timeout);
  const Stopwatch watch;
  EXPECT_TRUE(theirs.release("orders", token));
  const auto lease = waiting.get();
  ASSERT_TRUE(is_ok(lease));
  EXPECT_LT(watch.time(), at_most(4s));
}

TEST_F(Interop, a_holder_of_ours_gives_a_member_its_key_again) {
  auto lease = ours.mutex("orders").acquire({.ttl = 30s, .wait = 20s, .renew_every = 100ms});
  ASSERT_TRUE(is_ok(lease));
  test::RawRedis(server(2)).call({"DEL", "orders"});
  EXPECT_TRUE(eventually([&] {
    return theirs.tokens("orders") ==
           std::vector<std::string>(5, std::string(lease->owner().view()));
  }));
  EXPECT_TRUE(is_released(lease->release()));
}

}  // namespace
}  // namespace holdfast::faults
