// SPDX-License-Identifier: Apache-2.0
//
// Clients of one memory store on one thread, with a hand-moved clock and a bad line to it.
#pragma once

#include <holdfast/holdfast.hpp>

#include "backends/memory/memory_store.hpp"
#include "client/core.hpp"
#include "support/fault_store.hpp"
#include "support/hand_runtime.hpp"
#include "support/running.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string_view>

namespace holdfast::test {

using namespace std::chrono_literals;

class RateTest : public testing::Test {
 protected:
  using Taking = Running<Result<RateOutcome>>;

  void TearDown() override {
    line->resume();
    EXPECT_TRUE(runtime->settle()) << runtime->timers() << " timers go on for ever";
  }

  static RateRule sliding(std::uint32_t limit, Duration window) {
    return {.limit = limit, .window = window};
  }
  Taking take(const RateLimit& limit, Duration wait, std::uint32_t cost = 1,
              std::stop_token stop = {}) const {
    return Taking(limit.async_take(wait, cost, std::move(stop)));
  }
  void advance(std::chrono::nanoseconds time) { runtime->advance(time); }
  unsigned asked() const { return line->count(Verb::count_hit); }

  std::shared_ptr<HandRuntime> runtime = std::make_shared<HandRuntime>();
  std::shared_ptr<FaultStore> line = FaultStore::over(
      runtime, [runtime = runtime] { return backends::memory::make_memory_store(runtime); });
  Client client{client::make_core(line, runtime)};
};

}  // namespace holdfast::test
