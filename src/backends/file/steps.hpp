// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/file/database.hpp"
#include "backends/file/wake_layout.hpp"
#include "store/store.hpp"

#include <span>
#include <vector>

namespace holdfast::backends::file {

// A step that somebody waits for, and what became of it.
struct PendingStep {
  const store::Request* request = nullptr;
  Result<store::Reply> reply = store::Reply{};
  std::vector<model::Message> messages;  // to be sent if the reply is one
};

struct StepInput {
  model::StoreTime now{};
  std::uint64_t wall_us = 0;
};

// Runs the steps in one transaction, so that a durable store pays for one synchronisation. A step
// that fails leaves the others alone. Needs the writer lock, and commands that are admissible.
void run_steps(Database& database, WakeLayout& wake, std::span<PendingStep* const> steps,
               const StepInput& input);

}  // namespace holdfast::backends::file
