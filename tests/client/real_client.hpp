// SPDX-License-Identifier: Apache-2.0
//
// A client as a program has it: the process' own runtime, real time, real threads.
#pragma once

#include <holdfast/holdfast.hpp>

#include "backends/memory/memory_store.hpp"
#include "client/core.hpp"
#include "client/hand_client.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace holdfast::test {

inline Client real_client() {
  auto runtime = runtime::shared_runtime();
  return Client(client::make_core(backends::memory::make_memory_store(runtime), runtime));
}

// True as soon as `condition` is, false if it is not within a generous time.
template <typename Condition>
bool soon(Condition condition) {
  const auto give_up = std::chrono::steady_clock::now() + 10s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

}  // namespace holdfast::test
