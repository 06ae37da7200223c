// SPDX-License-Identifier: Apache-2.0
#include "model/idempotency.hpp"

#include "backends/memory/memory_store.hpp"
#include "backends/memory/records.hpp"
#include "runtime/spawn.hpp"
#include "support/hand_runtime.hpp"
#include "support/model_world.hpp"
#include "support/runs.hpp"

#include <algorithm>

namespace holdfast::backends::memory {
namespace {

using namespace test;
using model::RunCommand;
using model::RunOutcome;

class MemoryRuns : public testing::Test {
 protected:
  RunOutcome apply(const std::string& name, const RunCommand& command) {
    return runs.apply(HashedName(name), now, [&](model::RunState& state) {
      HandWorld world(now, 1, fences, nobody);
      return model::step(state, command, world);
    });
  }

  Records<model::RunState> runs;
  model::StoreTime now{1000h};
  model::FenceCounter fences;
  std::set<std::uint64_t> nobody;
};

TEST_F(MemoryRuns, it_goes_by_the_clock_of_the_runtime_and_never_suspends) {
  const auto runtime = std::make_shared<HandRuntime>();
  const auto store = make_memory_store(runtime);
  const auto ask = [&](RunCommand command) {
    store::Request request{.name = LockName::make("order").value(), .command = std::move(command)};
    auto task = store->apply(std::move(request));
    EXPECT_TRUE(task.is_ready()) << "an embedded store never suspends";
    return std::get<RunOutcome>(runtime::run_blocking(std::move(task)).value().outcome);
  };
  const auto first = ask(begin_as("ann"));
  EXPECT_TRUE(first.done);
  runtime->advance(run_guard - 1us);
  EXPECT_EQ(ask(begin_as("ben")).remaining, 1us);
  runtime->advance(1us);
  const auto next = ask(begin_as("ben"));
  EXPECT_EQ(next.found, RunFound::abandoned);
  EXPECT_GT(next.fence, first.fence);
  EXPECT_FALSE(ask(complete_as("ann")).done);
}

TEST_F(MemoryRuns, whoever_only_looks_or_comes_to_nothing_leaves_nothing_behind) {
  for (int i = 0; i < 100; ++i) {
    const auto name = std::to_string(i);
    for (const auto& command :
         {look_at_run(), forget_run(), renew_as("ann"), abandon_as("ann"), fail_as("ann", "why")}) {
      apply(name, command);
    }
  }
  EXPECT_EQ(runs.size(), 0U);
  apply("order", begin_as("ann"));
  EXPECT_EQ(runs.size(), 1U);
  apply("order", fail_as("ann", "", 0us));
  EXPECT_EQ(runs.size(), 0U);
}

TEST_F(MemoryRuns, answers_do_not_pile_up_and_those_that_are_young_stay) {
  std::size_t most = 0;
  for (int i = 0; i < 20'000; ++i) {
    now += 100ms;
    apply("order-" + std::to_string(i), complete_as("ann", {.body = std::to_string(i)}));
    if (i % 1000 == 0) most = std::max(most, runs.size());
  }
  // Those of a minute are 600.
  EXPECT_LT(most, 10'000U);
  EXPECT_EQ(apply("order-19500", look_at_run()).answer.body, "19500");
}

}  // namespace
}  // namespace holdfast::backends::memory
