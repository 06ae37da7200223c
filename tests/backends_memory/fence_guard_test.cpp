// SPDX-License-Identifier: Apache-2.0
#include "backends/memory/memory_store.hpp"
#include "backends/memory/names.hpp"
#include "runtime/spawn.hpp"
#include "support/hand_runtime.hpp"

#include <gtest/gtest.h>

namespace holdfast::backends::memory {
namespace {

using namespace std::chrono_literals;

TEST(MemoryGuard, it_forgets_a_resource_when_it_was_not_used_for_as_long_as_asked) {
  const auto runtime = std::make_shared<test::HandRuntime>();
  const auto store = make_memory_store(runtime);
  const auto check = [&](Fence fence) {
    store::Request request{.name = LockName::make("warehouse").value(),
                           .command = model::GuardCommand{.fence = fence, .keep = 1h}};
    auto task = store->apply(std::move(request));
    EXPECT_TRUE(task.is_ready()) << "an embedded store never suspends";
    return std::get<model::GuardOutcome>(runtime::run_blocking(std::move(task)).value().outcome);
  };
  EXPECT_TRUE(check(100).accepted);
  runtime->advance(1h - 1us);
  EXPECT_FALSE(check(99).accepted);
  runtime->advance(1us);
  EXPECT_TRUE(check(99).accepted);
}

TEST(MemoryGuard, the_sweep_takes_what_is_left_behind_and_nothing_else) {
  NameMap<model::GuardState> states;
  std::size_t at = 0;
  std::size_t most = 0;
  const auto add = [&](const std::string& name, model::StoreTime expires) {
    const auto now = expires - 1min;
    sweep_a_little(states, at, [now](const auto& state) { return model::forgettable(state, now); });
    const HashedName hashed(name);
    states[NameKey{name, hashed.hash}] = {.newest = 1, .expires = expires};
    most = std::max(most, states.size());
  };
  for (int i = 0; i < 100; ++i) {
    add("alive-" + std::to_string(i), model::StoreTime(24h * 300));
  }
  for (int i = 0; i < 60'000; ++i) {
    add("passing-" + std::to_string(i), model::StoreTime(100h) + std::chrono::seconds(i));
  }
  EXPECT_LT(most, 3'000U);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(states.contains(HashedName("alive-" + std::to_string(i))));
  }
}

}  // namespace
}  // namespace holdfast::backends::memory
