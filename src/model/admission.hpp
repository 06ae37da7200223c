// SPDX-License-Identifier: Apache-2.0
//
// What may be asked at all, before any state is looked at. Every store checks this at its border,
// so that a ttl of zero never reaches a place where it would mean "delete".
#pragma once

#include "model/command.hpp"

namespace holdfast::model {

// bad_input with the field and the rule, or success.
Result<void> admissible(const LockCommand& command);

}  // namespace holdfast::model
