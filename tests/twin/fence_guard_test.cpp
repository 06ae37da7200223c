// SPDX-License-Identifier: Apache-2.0
//
// The check of fences as it is defined (src/model) and as it runs inside Redis, driven alike and
// compared after each command. Both get the same clock, which the test moves.
#include "backends/redis/fence_guard.hpp"

#include "support/random_text.hpp"
#include "support/redis_server.hpp"
#include "virtual_time.hpp"

#include <gtest/gtest.h>

#include <map>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using backends::redis::Script;
using backends::redis::Scripts;

class GuardTwin : public testing::Test {
 protected:
  explicit GuardTwin(std::string_view prelude = virtual_time_prelude)
      : scripts_({.prelude = prelude}) {
    clock_ = redis_.text({"SCRIPT", "LOAD", std::string(move_clock_script)});
    redis_.call({"SCRIPT", "LOAD", scripts_[Script::check_fence].text});
    move_clock(0us);
  }

  long long move_clock(Micros by) {
    now_ += by;
    const auto us = std::to_string(now_.time_since_epoch().count());
    return redis_.integer({"EVALSHA", clock_, "0", us});
  }

  Result<store::Reply> ask(const std::string& name, const model::GuardCommand& command,
                           bool by_text = false) {
    redis_.send(encode_check(scripts_, LockName::make(name).value(), command,
                             {.by_text = by_text, .compare_clock = false}));
    const auto reply = redis_.receive();
    if (net::resp::is_error(*reply)) {
      return fail(Errc::unavailable, std::string(net::resp::text_of(*reply)));
    }
    return backends::redis::decode_check(*reply);
  }

  static std::string key_of(const std::string& name) { return "hf:guard:{" + name + "}"; }

  RedisServer server_;
  RawRedis redis_{server_};
  Scripts scripts_;
  std::string clock_;
  model::StoreTime now_{1'700'000'000s};
};

// Some are what people have, some are where numbers change their length or lose their last digit.
Fence some_fence(Random& random, Fence newest) {
  constexpr Fence edges[] = {1,
                             9,
                             10,
                             99,
                             1ULL << 32U,
                             1ULL << 53U,
                             1ULL << 63U,
                             9'999'999'999'999'999ULL,
                             UINT64_MAX - 2};
  if (random.one_in(2)) return std::max<Fence>(1, newest - 2 + random.below(5));
  if (random.one_in(20)) return edges[random.below(std::size(edges))] + random.below(3);
  return 1 + random.below(random.one_in(2) ? 1000 : 20);
}

Micros some_time(Random& random) {
  if (random.one_in(3)) return 0us;
  if (random.one_in(20)) return std::chrono::milliseconds(random.below(3'000'000'000));
  return std::chrono::milliseconds(random.below(60'000));
}

Micros some_keep(Random& random) {
  if (random.one_in(3)) return 1min;
  if (random.one_in(10)) return 24h * 30;
  return 1min + std::chrono::milliseconds(random.below(3'600'000));
}

TEST_F(GuardTwin, the_script_does_what_the_model_says) {
  Random random;
  const std::string names[] = {"warehouse", "{braces}", "a } b {*?[", "Größe 鎖",
                               std::string(max_name_bytes, 'n')};
  std::map<std::string, model::GuardState> states;
  for (int round = 0; round < 5000; ++round) {
    move_clock(some_time(random));
    const auto& name = names[random.below(std::size(names))];
    auto& state = states[name];
    const model::GuardCommand command{.fence = some_fence(random, state.newest),
                                      .keep = some_keep(random)};
    const auto expected = step(state, command, now_);
    const auto reply = ask(name, command, random.one_in(100));
    ASSERT_TRUE(reply) << reply.error().message;
    ASSERT_EQ(std::get<model::GuardOutcome>(reply->outcome), expected)
        << "round " << round << " fence " << command.fence << " newest " << expected.newest;
    ASSERT_EQ(redis_.text({"GET", key_of(name)}), std::to_string(state.newest));
    const auto expires_ms = std::stoll(redis_.text({"HGET", "twin:expiry", key_of(name)}));
    ASSERT_EQ(expires_ms * 1000, state.expires.time_since_epoch().count()) << "round " << round;
  }
  constexpr long long only_the_clock = 1;
  EXPECT_EQ(move_clock(24h * 31), only_the_clock) << "nothing is left behind";
}

class GuardWire : public GuardTwin {
 protected:
  GuardWire() : GuardTwin("") {}
};

TEST_F(GuardWire, a_record_lives_for_as_long_as_was_asked) {
  ASSERT_TRUE(ask("warehouse", {.fence = 7, .keep = 1h}));
  const auto left = redis_.integer({"PTTL", key_of("warehouse")});
  EXPECT_GT(left, 3'590'000);
  EXPECT_LE(left, 3'600'000);
  ASSERT_TRUE(ask("warehouse", {.fence = 6, .keep = 2h}));
  EXPECT_LE(redis_.integer({"PTTL", key_of("warehouse")}), 3'600'000);
  ASSERT_TRUE(ask("warehouse", {.fence = 7, .keep = 2h}));
  EXPECT_GT(redis_.integer({"PTTL", key_of("warehouse")}), 7'190'000);
}

TEST_F(GuardWire, a_repeated_fence_writes_nothing_unless_replicas_have_to_confirm_it) {
  ASSERT_TRUE(ask("warehouse", {.fence = 7, .keep = 1h}));
  redis_.call({"PEXPIRE", key_of("warehouse"), "3300000"});
  ASSERT_TRUE(ask("warehouse", {.fence = 7, .keep = 1h}));
  EXPECT_LE(redis_.integer({"PTTL", key_of("warehouse")}), 3'300'000);
  redis_.send(encode_check(scripts_, LockName::make("warehouse").value(), {.fence = 7, .keep = 1h},
                           {.must_write = true}));
  EXPECT_EQ(net::resp::is_error(*redis_.receive()), false);
  EXPECT_GT(redis_.integer({"PTTL", key_of("warehouse")}), 3'590'000);
  redis_.call({"PEXPIRE", key_of("warehouse"), "3100000"});
  ASSERT_TRUE(ask("warehouse", {.fence = 7, .keep = 1h}));
  EXPECT_GT(redis_.integer({"PTTL", key_of("warehouse")}), 3'590'000);
}

TEST_F(GuardWire, a_key_that_is_something_else_is_left_alone) {
  redis_.call({"SET", key_of("a"), "what somebody else wrote"});
  redis_.call({"HSET", key_of("b"), "field", "value"});
  for (const auto* name : {"a", "b"}) {
    const auto reply = ask(name, {.fence = 7});
    ASSERT_FALSE(reply);
    EXPECT_NE(reply.error().message.find("WRONGTYPE"), std::string::npos) << reply.error().message;
  }
  EXPECT_EQ(redis_.text({"GET", key_of("a")}), "what somebody else wrote");
}

}  // namespace
}  // namespace holdfast::test
