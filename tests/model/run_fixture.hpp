// SPDX-License-Identifier: Apache-2.0
//
// One record of a run, and everything around it moved by hand.
#pragma once

#include "support/model_world.hpp"
#include "support/runs.hpp"

namespace holdfast::model {

using namespace std::chrono_literals;
using namespace test;

class RunTest : public testing::Test {
 protected:
  RunOutcome apply(const RunCommand& command) {
    const auto admitted = admissible(command);
    EXPECT_TRUE(admitted.has_value()) << admitted.error().message;
    HandWorld world(now, static_cast<std::uint64_t>(now.time_since_epoch().count()), fences,
                    nobody);
    return step(state, command, world);
  }
  // Whether it is the caller's now, and what was found.
  void expect(const RunCommand& command, bool done, RunFound found) {
    const auto outcome = apply(command);
    EXPECT_EQ(outcome.done, done);
    EXPECT_EQ(outcome.found, found) << to_string(outcome.found);
  }
  // A run of ann that was never heard of again.
  Fence abandoned_run(std::string_view fingerprint = {}) {
    const auto begun = apply(begin_as("ann", fingerprint));
    EXPECT_TRUE(begun.done);
    now += run_guard;
    return begun.fence;
  }
  RunFound seen() { return apply(look_at_run()).found; }

  RunState state;
  StoreTime now{1'000'000s};
  FenceCounter fences;
  std::set<std::uint64_t> nobody;
};

}  // namespace holdfast::model
