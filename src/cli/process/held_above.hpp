// SPDX-License-Identifier: Apache-2.0
//
// A command that runs under a lock finds what it holds in its environment. Names and fences of
// several locks stand one per line, in the same order.
#pragma once

#include <holdfast/client.hpp>

#include "cli/lock_choice.hpp"

#include <span>
#include <string>
#include <vector>

namespace holdfast::cli {

// HOLDFAST_NAME, HOLDFAST_FENCE and HOLDFAST_OWNER for a command under these leases.
std::vector<std::string> variables_for(std::span<const Lease> leases);

// The owner that the environment names for a lock: of several, the one that belongs to the name.
// Empty if there is none.
std::string owner_above(const std::string& name);

// Waiting for a lock that is held by whoever started us never ends. The name alone proves nothing,
// since it may be another store's, so the holder's fence is compared. Errors: deadlock.
Result<void> refuse_to_wait_for_ourselves(const Client& client,
                                          const std::vector<std::string>& wanted,
                                          const LockChoice& choice);

}  // namespace holdfast::cli
