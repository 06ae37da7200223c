// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/file/database.hpp"

namespace holdfast::backends::file {

// What a durable store does when it is first opened after a reboot. The clock of its leases began
// anew, and how long the machine was down nobody knows: every lease that was live at the last step
// gets its full ttl again, and every fence guard the time that was left; what a rate limit has
// counted goes on to count for the time that was left of it, and so does what is known of a run,
// with its guard begun anew. Nobody waits any more, since no process survived. Does nothing under
// the boot id that the store knows. Errors: unavailable.
Result<void> recover_from_reboot(Database& database, const BootId& boot_id, model::StoreTime now);

}  // namespace holdfast::backends::file
