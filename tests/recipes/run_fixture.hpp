// SPDX-License-Identifier: Apache-2.0
//
// Two clients of one memory store on one thread, with a hand-moved clock and a bad line each.
#pragma once

#include <holdfast/holdfast.hpp>

#include "backends/memory/memory_store.hpp"
#include "client/core.hpp"
#include "recipes/idempotency.hpp"
#include "support/fault_store.hpp"
#include "support/hand_runtime.hpp"
#include "support/running.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace holdfast {

inline std::ostream& operator<<(std::ostream& out, Ending ending) {
  return out << to_string(ending);
}

}  // namespace holdfast

namespace holdfast::test {

using namespace std::chrono_literals;

class RunTest : public testing::Test {
 protected:
  using Beginning = Running<Result<recipes::Beginning>>;

  void TearDown() override {
    line->resume();
    other_line->resume();
    EXPECT_TRUE(runtime->settle()) << runtime->timers() << " timers go on for ever";
  }

  holdfast::Run begin(IdempotencyOptions options = {}, std::string_view key = "payment-1") {
    auto begun = client.begin_run(key, options);
    EXPECT_TRUE(begun && begun->run);
    return std::move(begun->run.value());
  }
  // Of another process, without running anything.
  Once other_asks(IdempotencyOptions options = {}, std::string_view key = "payment-1") {
    auto begun = other.begin_run(key, options);
    if (!begun) {
      ADD_FAILURE() << begun.error().message;
      return {};
    }
    if (!begun->run) return begun->instead;
    const bool took_over = begun->run->took_over();
    EXPECT_TRUE(begun->run->complete({.body = took_over ? "taken over" : "fresh"}));
    return {.ending = Ending::ran, .answer = {.body = took_over ? "taken over" : "fresh"}};
  }
  // The same while it may have to wait.
  Beginning other_waits(Duration wait, std::stop_token stop = {}, IdempotencyOptions options = {}) {
    return Beginning(recipes::begin_run(other.core(), recipes::run_name("payment-1").value(),
                                        recipes::make_terms(*other.core(), options).value(), wait,
                                        std::move(stop)));
  }
  void advance(std::chrono::nanoseconds time) { runtime->advance(time); }

  std::shared_ptr<HandRuntime> runtime = std::make_shared<HandRuntime>();
  std::shared_ptr<FaultStore> line = FaultStore::over(
      runtime, [runtime = runtime] { return backends::memory::make_memory_store(runtime); });
  std::shared_ptr<FaultStore> other_line = line->another_line();
  Client client{client::make_core(line, runtime)};
  Client other{client::make_core(other_line, runtime)};
};

}  // namespace holdfast::test
