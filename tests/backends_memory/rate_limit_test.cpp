// SPDX-License-Identifier: Apache-2.0
#include "model/rate_limit.hpp"

#include "backends/memory/memory_store.hpp"
#include "backends/memory/records.hpp"
#include "runtime/spawn.hpp"
#include "support/hand_runtime.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace holdfast::backends::memory {
namespace {

using namespace std::chrono_literals;
using model::RateCommand;
using model::StoreTime;

constexpr RateRule two_an_hour{.limit = 2, .window = 1h};

class MemoryRates : public testing::Test {
 protected:
  RateOutcome apply(const std::string& name, RateCommand::Verb verb) {
    return rates.apply(HashedName(name), now, [&](model::RateState& state) {
      return model::step(state, {verb, two_an_hour}, now);
    });
  }

  Records<model::RateState> rates;
  StoreTime now{1000h};
};

TEST_F(MemoryRates, it_counts_by_the_clock_of_the_runtime_and_never_suspends) {
  const auto runtime = std::make_shared<test::HandRuntime>();
  const auto store = make_memory_store(runtime);
  const auto check = [&] {
    store::Request request{.name = LockName::make("api").value(),
                           .command = RateCommand{.rule = two_an_hour}};
    auto task = store->apply(std::move(request));
    EXPECT_TRUE(task.is_ready()) << "an embedded store never suspends";
    return std::get<RateOutcome>(runtime::run_blocking(std::move(task)).value().outcome);
  };
  EXPECT_TRUE(check().allowed);
  EXPECT_TRUE(check().allowed);
  const auto told = check();
  EXPECT_FALSE(told.allowed);
  EXPECT_EQ(told.retry_after, 1h);
  runtime->advance(1h - 1us);
  EXPECT_FALSE(check().allowed);
  runtime->advance(1us);
  EXPECT_TRUE(check().allowed);
}

TEST_F(MemoryRates, whoever_only_looks_or_resets_leaves_nothing_behind) {
  for (int i = 0; i < 100; ++i) {
    apply(std::to_string(i), RateCommand::Verb::peek);
    apply(std::to_string(i), RateCommand::Verb::reset);
  }
  EXPECT_EQ(rates.size(), 0U);
  apply("api", RateCommand::Verb::check);
  EXPECT_EQ(rates.size(), 1U);
  apply("api", RateCommand::Verb::reset);
  EXPECT_EQ(rates.size(), 0U);
}

TEST_F(MemoryRates, limits_that_are_used_once_do_not_pile_up_and_those_in_use_stay) {
  const auto stays = [](int i) { return "alive-" + std::to_string(i); };
  std::size_t most = 0;
  for (int i = 0; i < 100; ++i) apply(stays(i), RateCommand::Verb::check);
  for (int i = 0; i < 60'000; ++i) {
    now += 1s;
    apply("passing-" + std::to_string(i), RateCommand::Verb::check);
    if (i % 1800 == 0) {
      for (int k = 0; k < 100; ++k) apply(stays(k), RateCommand::Verb::check);
    }
    if (i % 1000 == 0) most = std::max(most, rates.size());
  }
  EXPECT_LT(most, 20'000U);
  for (int i = 0; i < 100; ++i) EXPECT_GT(apply(stays(i), RateCommand::Verb::peek).count, 0U);
}

TEST_F(MemoryRates, threads_get_exactly_what_there_is) {
  constexpr RateRule many{.limit = 10'000, .window = 1h};
  std::atomic<std::uint32_t> allowed = 0;
  {
    std::vector<std::jthread> running;
    for (int thread = 0; thread < 8; ++thread) {
      running.emplace_back([&] {
        for (int i = 0; i < 2'000; ++i) {
          const auto count = [&](model::RateState& state) {
            return model::step(state, {.rule = many}, now);
          };
          if (rates.apply(HashedName("api"), now, count).allowed) ++allowed;
        }
      });
    }
  }
  EXPECT_EQ(allowed, many.limit);
}

}  // namespace
}  // namespace holdfast::backends::memory
