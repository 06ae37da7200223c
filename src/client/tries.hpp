// SPDX-License-Identifier: Apache-2.0
//
// Acquiring by trying several times, for those who do not want to stand in line.
#pragma once

#include <holdfast/locked.hpp>
#include <holdfast/task.hpp>

#include "client/lock_handle.hpp"

#include <source_location>
#include <stop_token>

namespace holdfast::client {

// Errors: bad_input, naming the field and the rule.
Result<void> check(const RetryPolicy& policy);

// The pause after so many attempts, at least one.
Micros pause_after(const RetryPolicy& policy, std::uint32_t attempts, std::uint64_t random);

// The texts of the options must live until it ends. Errors as acquire; busy after one attempt, and
// timed_out after several.
Task<Result<Lease>> acquire_by_tries(std::shared_ptr<LockHandle> handle, LockedOptions options,
                                     std::stop_token stop, std::source_location where);

}  // namespace holdfast::client
