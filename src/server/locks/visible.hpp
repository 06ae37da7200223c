// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "client/core.hpp"
#include "server/auth/principal.hpp"

#include <memory>

namespace holdfast::server {

// A page of the locks that the caller may see. Its cursor is not the store's, and names no lock
// that the caller may not see. Errors: bad_input for a limit, a prefix or a cursor; those of
// Store::list.
Task<Result<LockPage>> list_visible(std::shared_ptr<client::Core> core,
                                    std::shared_ptr<const Principal> principal,
                                    store::ListRequest request);

}  // namespace holdfast::server
