// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/options.hpp>

namespace holdfast::client {

// bad_input with the field and the rule, or success.
Result<void> check_ttl(Duration ttl);
Result<void> check_wait(Duration wait);
Result<void> check(const AcquireOptions& options);

}  // namespace holdfast::client
