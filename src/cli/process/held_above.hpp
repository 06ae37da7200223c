// SPDX-License-Identifier: Apache-2.0
//
// A command that runs under a lock finds what it holds in its environment. Names and fences of
// several locks stand one per line, in the same order.
#pragma once

#include <holdfast/client.hpp>

#include "cli/process/take.hpp"

#include <span>
#include <string>
#include <vector>

namespace holdfast::cli {

// HOLDFAST_NAME, HOLDFAST_FENCE and HOLDFAST_OWNER for a command under these leases.
std::vector<std::string> variables_for(std::span<const Lease> leases);

// Waiting for a lock that is held by whoever started us never ends. The name alone proves nothing,
// since it may be another store's, so the holder's fence is compared. Errors: deadlock.
Result<void> refuse_to_wait_for_ourselves(const Client& client, const Wanted& wanted);

}  // namespace holdfast::cli
