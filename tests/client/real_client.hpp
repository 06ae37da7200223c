// SPDX-License-Identifier: Apache-2.0
//
// A client as a program has it: the process' own runtime, real time, real threads.
#pragma once

#include <holdfast/holdfast.hpp>

#include "backends/memory/memory_store.hpp"
#include "client/core.hpp"
#include "client/hand_client.hpp"
#include "support/renewed.hpp"
#include "support/timing.hpp"

#include <gtest/gtest.h>

namespace holdfast::test {

inline Client real_client() {
  auto runtime = runtime::shared_runtime();
  return Client(client::make_core(backends::memory::make_memory_store(runtime), runtime));
}

}  // namespace holdfast::test
