// SPDX-License-Identifier: Apache-2.0
//
// Rate limits as they are defined (src/model) and as they run inside Redis, driven alike and
// compared after each command. Both get the same clock, which the test moves, and not only forward.
#include "backends/redis/rate_limit.hpp"

#include "support/random_text.hpp"
#include "support/redis_server.hpp"
#include "virtual_time.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <ostream>

namespace holdfast {

void PrintTo(const RateOutcome& outcome, std::ostream* out) {
  *out << fmt::format("{} count {} limit {} remaining {} retry after {} reset after {}",
                      outcome.allowed ? "allowed" : "denied", outcome.count, outcome.limit,
                      outcome.remaining, outcome.retry_after.count(), outcome.reset_after.count());
}

}  // namespace holdfast

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using backends::redis::Script;
using backends::redis::Scripts;
using model::RateCommand;
using model::RateState;
using model::StoreTime;

constexpr StoreTime earliest{1s};
constexpr StoreTime latest{3'000'000'000s};

class RateTwin : public testing::Test {
 protected:
  RateTwin() {
    clock_ = redis_.text({"SCRIPT", "LOAD", std::string(move_clock_script)});
    for (const auto script : {Script::fixed_window, Script::sliding_window, Script::token_bucket,
                              Script::shared_window}) {
      const auto& source = scripts_[script];
      EXPECT_EQ(redis_.text({"SCRIPT", "LOAD", source.text}), source.sha1);
    }
    move_clock(now_);
  }

  // How many keys are left.
  long long move_clock(StoreTime to) {
    now_ = to;
    furthest_ = std::max(furthest_, now_);
    return redis_.integer(
        {"EVALSHA", clock_, "0", std::to_string(now_.time_since_epoch().count())});
  }

  bool has(const std::string& key) { return redis_.integer({"EXISTS", key}) == 1; }

  RateOutcome ask(const LockName& name, const RateCommand& command) {
    redis_.send(encode_rate(scripts_, name, command, {.by_text = random_.one_in(50)}));
    const auto reply = redis_.receive();
    if (net::resp::is_error(*reply)) {
      ADD_FAILURE() << net::resp::text_of(*reply);
      return {};
    }
    const auto decoded = backends::redis::decode_rate(command, *reply);
    EXPECT_TRUE(decoded) << decoded.error().message;
    return decoded ? std::get<RateOutcome>(decoded->outcome) : RateOutcome{};
  }

  // Redis forgets a key when its time has come, even if the clock is set back before anybody asks.
  // It must never forget one before.
  void forget_with(const std::string& key, RateState& state) {
    if (state.expires == StoreTime{} || has(key)) return;
    EXPECT_LE(state.expires, furthest_) << key << " was forgotten too early";
    state = {};
  }

  template <typename T, std::size_t size>
  T one_of(const T (&all)[size]) {
    return all[random_.below(size)];
  }
  Micros below(Micros end) {
    return Micros(random_.below(static_cast<std::size_t>(std::max<std::int64_t>(1, end.count()))));
  }

  std::uint32_t some_limit() {
    constexpr std::uint32_t usual[] = {1, 2, 3, 10, 59, 60, 61, 100, 1000, 99'991, max_rate_limit};
    return random_.one_in(3) ? static_cast<std::uint32_t>(1 + random_.below(200)) : one_of(usual);
  }

  std::uint32_t some_cost(const RateRule& rule) {
    const auto most = rule.capacity();
    if (random_.one_in(20)) return most;
    if (random_.one_in(5)) return static_cast<std::uint32_t>(1 + random_.below(most));
    return random_.one_in(2) ? 1 : std::max(1U, most / 7);
  }

  RateCommand::Verb some_verb() {
    if (random_.one_in(60)) return RateCommand::Verb::reset;
    return random_.one_in(6) ? RateCommand::Verb::peek : RateCommand::Verb::check;
  }

  // In steps that mean something to the rule: a hit, a slice, a window, a long time.
  Micros some_time(const RateRule& rule) {
    const Micros window = rule.window;
    switch (random_.below(12)) {
      case 0: return below(3us);
      case 1:
      case 2: return window / rule.limit;
      case 3: return window / 60;
      case 4: return below(window / 10);
      case 5: return below(window);
      case 6: return window;
      case 7: return random_.one_in(3) ? below(4 * window) : below(window / 3);
      case 8: return random_.one_in(10) ? below(24h * 4000) : window / 60;
      case 9: return random_.one_in(3) ? -below(2 * window) : -below(window / 20);
      case 10: return random_.one_in(20) ? -below(24h * 4000) : 0us;
      default: return 0us;
    }
  }

  // A time just before, at and after the end of a window.
  StoreTime some_edge(Micros window) {
    const auto begin = now_.time_since_epoch() / window * window;
    return StoreTime(begin + window) + Micros(static_cast<int>(random_.below(3)) - 1);
  }

  void let_time_pass(const RateRule& rule) {
    const auto to = random_.one_in(15) ? some_edge(rule.window) : now_ + some_time(rule);
    move_clock(std::clamp(to, earliest, latest));
  }

  RedisServer server_;
  RawRedis redis_{server_};
  Random random_;
  Scripts scripts_{{.prelude = virtual_time_prelude}};
  std::string clock_;
  StoreTime now_{1'700'000'000s};
  StoreTime furthest_ = now_;
};

// One limit after the other, each with its own window and many rules.
class NativeTwin : public RateTwin {
 protected:
  RateRule some_rule(RateAlgorithm algorithm, Micros window) {
    RateRule rule{.algorithm = algorithm, .limit = some_limit(), .window = window};
    if (algorithm == RateAlgorithm::token_bucket && random_.one_in(2)) rule.burst = some_limit();
    const bool good = model::admissible(RateCommand{.rule = rule}).has_value();
    return good ? rule : some_rule(algorithm, window);
  }

  Micros some_window() {
    constexpr Micros usual[] = {min_rate_window, 1001us,   1s,  7'777'777us,
                                min_rate_window, 59'999us, 60s, max_rate_window};
    return random_.one_in(3) ? min_rate_window + below(10min) : one_of(usual);
  }

  void walk(RateAlgorithm algorithm) {
    for (int limit = 0; limit < limits_; ++limit) {
      const Micros window = some_window();
      RateRule rule = some_rule(algorithm, window);
      const auto name = model::limit_name(fmt::format("s{} {{*?[", limit), rule).value();
      const auto key = "hf:rate:{" + name.str() + "}";
      RateState state;
      if (random_.one_in(4)) move_clock(random_.one_in(2) ? earliest : now_ + 24h);
      for (int round = 0; round < rounds_; ++round) {
        if (random_.one_in(12)) rule = some_rule(algorithm, window);
        let_time_pass(rule);
        forget_with(key, state);
        const RateCommand command{.verb = some_verb(), .rule = rule, .cost = some_cost(rule)};
        const auto before = state;
        const auto expected = step(state, command, now_);
        ASSERT_EQ(ask(name, command), expected)
            << "limit " << limit << " round " << round << " verb " << static_cast<int>(command.verb)
            << " cost " << command.cost << " limit " << rule.limit << " burst " << rule.burst
            << " window " << window.count() << " at " << now_.time_since_epoch().count() << " seen "
            << before.seen.time_since_epoch().count() << " ahead " << before.ahead.count()
            << " level " << before.level << " units " << before.units << " hits "
            << before.hits.size();
        denied_ += expected.allowed ? 0 : 1;
        set_back_ += state.ahead > 0us ? 1 : 0;
      }
      redis_.call({"DEL", key});
      redis_.call({"HDEL", "twin:expiry", key});
    }
    // A walk that is never denied, or never meets a clock that was set back, says nothing.
    EXPECT_GT(denied_, limits_);
    EXPECT_GT(set_back_, limits_);
  }

  static constexpr int limits_ = 30;
  static constexpr int rounds_ = 100;
  int denied_ = 0;
  int set_back_ = 0;
};

TEST_F(NativeTwin, a_fixed_window_does_what_the_model_says) { walk(RateAlgorithm::fixed_window); }
TEST_F(NativeTwin, a_sliding_window_does_what_the_model_says) {
  walk(RateAlgorithm::sliding_window);
}
TEST_F(NativeTwin, a_token_bucket_does_what_the_model_says) { walk(RateAlgorithm::token_bucket); }

TEST_F(NativeTwin, one_name_may_change_its_algorithm_and_window) {
  const auto name = LockName::make("changing").value();
  RateState state;
  for (int round = 0; round < 1000; ++round) {
    const auto rule = some_rule(RateAlgorithm{static_cast<std::uint8_t>(1 + random_.below(3))},
                                random_.one_in(2) ? 1s : some_window());
    move_clock(now_ + below(200ms));
    forget_with("hf:rate:{changing}", state);
    const RateCommand command{.verb = some_verb(), .rule = rule, .cost = some_cost(rule)};
    const auto expected = step(state, command, now_);
    ASSERT_EQ(ask(name, command), expected) << "round " << round;
  }
}

TEST_F(NativeTwin, nothing_is_left_behind) {
  for (const auto algorithm :
       {RateAlgorithm::fixed_window, RateAlgorithm::sliding_window, RateAlgorithm::token_bucket}) {
    const RateRule rule{.algorithm = algorithm, .limit = 5, .window = 10s};
    for (int i = 0; i < 7; ++i) ask(model::limit_name("a", rule).value(), {.rule = rule});
  }
  constexpr long long only_the_clock = 1;
  EXPECT_GT(move_clock(now_), only_the_clock);
  EXPECT_EQ(move_clock(now_ + 11s), only_the_clock);
}

// A key for each window, whose counter other programs raise too. They stay for a while, so that a
// clock that is set back finds the one it had before.
class SharedTwin : public RateTwin {
 protected:
  std::string key_of(const std::string& scope, const RateRule& rule) const {
    const auto window = std::chrono::floor<std::chrono::seconds>(rule.window);
    const auto number = now_.time_since_epoch() / window;
    if (rule.layout == RateLayout::n8n) return fmt::format("n8n-ratelimit-{}-{}", scope, number);
    return fmt::format("{{rl:fixed-window:{}}}:{}", scope, number * window.count());
  }

  void walk(RateLayout layout) {
    constexpr Micros windows[] = {1s, 2s, 7s, 60s, 1h, 24h, max_rate_window};
    int denied = 0;
    for (int limit = 0; limit < 30; ++limit) {
      const auto scope = fmt::format("a:{}:{{b}}", limit);
      RateRule rule{.algorithm = RateAlgorithm::fixed_window,
                    .limit = some_limit(),
                    .window = one_of(windows),
                    .layout = layout};
      const auto name = model::limit_name(scope, rule).value();
      std::map<std::string, RateState> states;
      for (int round = 0; round < 100; ++round) {
        if (random_.one_in(12)) rule.limit = some_limit();
        let_time_pass(rule);
        const auto key = key_of(scope, rule);
        auto& state = states[key];
        forget_with(key, state);
        if (random_.one_in(5) && state.count > 0) {
          step(state, {.rule = rule}, now_);
          redis_.call({"INCR", key});
        }
        const RateCommand command{.verb = some_verb(), .rule = rule, .cost = some_cost(rule)};
        const auto expected = step(state, command, now_);
        ASSERT_EQ(ask(name, command), expected)
            << key << " round " << round << " limit " << rule.limit << " cost " << command.cost;
        ASSERT_EQ(has(key), state.count > 0) << key << " round " << round;
        denied += expected.allowed ? 0 : 1;
      }
    }
    EXPECT_GT(denied, 30);
    constexpr long long only_the_clock = 1;
    EXPECT_EQ(move_clock(latest + max_rate_window + 1s), only_the_clock)
        << "nothing is left behind";
  }
};

TEST_F(SharedTwin, windows_of_n8n_do_what_the_model_says) { walk(RateLayout::n8n); }
TEST_F(SharedTwin, windows_of_redisx_do_what_the_model_says) { walk(RateLayout::redisx); }

}  // namespace
}  // namespace holdfast::test
