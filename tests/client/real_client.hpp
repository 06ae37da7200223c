// SPDX-License-Identifier: Apache-2.0
//
// A client as a program has it: the process' own runtime, real time, real threads.
#pragma once

#include <holdfast/holdfast.hpp>

#include "backends/memory/memory_store.hpp"
#include "client/core.hpp"
#include "client/hand_client.hpp"
#include "support/timing.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace holdfast::test {

inline Client real_client() {
  auto runtime = runtime::shared_runtime();
  return Client(client::make_core(backends::memory::make_memory_store(runtime), runtime));
}

// Whether it is renewed, again and again.
inline bool gets_renewed(const Lease& lease) {
  const auto end = [&] { return std::chrono::steady_clock::now() + lease.remaining(); };
  for (int i = 0; i < 3; ++i) {
    const auto before = end();
    if (!eventually([&] { return end() > before + 5ms; })) return false;
  }
  return true;
}

}  // namespace holdfast::test
