// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include "n8n/insert.hpp"
#include "n8n/limits.hpp"
#include "n8n/scope.hpp"
#include "n8n/workflow.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::n8n {

struct LockWish {
  ScopeExpression scope;
  std::int64_t ttl_seconds = default_lock_ttl_seconds;
  std::int64_t max_wait_seconds = default_lock_wait_seconds;
  bool fail_fast = false;
  bool on_error = false;  // settings.errorWorkflow gives the lock back when the workflow fails
};

// Puts the workflow under a lock: everything behind its trigger, or behind its rate limit if it
// has one, runs while the lock is held, with the items that the trigger gave. The lock is given
// back once, when nothing is left to run, by the scope and the lock_id that the acquire returned.
//
// Returns what the user should know. Errors: bad_input, and the workflow is as it was.
Result<std::vector<std::string>> add_lock(Workflow& workflow, const LockWish& wish,
                                          const Filling& filling);

}  // namespace holdfast::n8n
