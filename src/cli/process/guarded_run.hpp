// SPDX-License-Identifier: Apache-2.0
//
// A run under an idempotency key, from the command line: beginning it, and a command's hold on it.
#pragma once

#include "cli/process/signals.hpp"
#include "cli/process/supervisor.hpp"
#include "cli/process/take.hpp"
#include "recipes/idempotency.hpp"

#include <memory>
#include <string>

namespace holdfast::cli {

struct RunWanted {
  LockName name;
  recipes::RunTerms terms;
  Duration wait{};
};

// Begins a run, or waits for what becomes of the one that is under way. A signal that ends a
// program ends this one, and nothing is left of the run. Errors as recipes::begin_run.
Result<recipes::Beginning> begin_attended(const OpenStore& store, const RunWanted& wanted,
                                          const Console& console, const Signals& signals);

// Nothing was run, so that nothing must be left that says it might have been. Blocks.
void take_back(const OpenStore& store, const RunWanted& wanted);

// What a command runs under: it must be gone before another can take over.
Hold hold_of(const std::shared_ptr<recipes::GuardedRun>& run);

}  // namespace holdfast::cli
