// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/file/database.hpp"
#include "store/store.hpp"

#include <cstddef>

namespace holdfast::backends::file {

// After so many records a page ends, full or not: nobody else can enter meanwhile.
inline constexpr std::size_t max_records_per_page = 4096;

// Locks that somebody holds or waits for, by key; the cursor is the last name that was looked at.
// Needs the writer lock. Errors: bad_input, unavailable.
Result<LockPage> list_locks(Database& database, const store::ListRequest& request,
                            model::StoreTime now);

}  // namespace holdfast::backends::file
