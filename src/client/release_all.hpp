// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/client.hpp>
#include <holdfast/task.hpp>

#include "client/core.hpp"

namespace holdfast::client {

// All leases of the client at once; ends when the last of them is released or given up.
Task<ReleasedAll> release_all(std::shared_ptr<Core> core);

}  // namespace holdfast::client
