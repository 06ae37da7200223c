// SPDX-License-Identifier: Apache-2.0
//
// Commands, outcomes and states as text: what is compared, and what a failure prints.
#pragma once

#include "model/command.hpp"

#include <string>
#include <vector>

namespace holdfast::test {

std::string describe(const model::LockCommand& command);
// Holders are listed by what they are, not by where they stand.
std::string describe(const model::LockOutcome& outcome);
std::string describe(const model::LockState& state, model::StoreTime now);
std::string describe(const std::vector<model::Message>& messages);

}  // namespace holdfast::test
