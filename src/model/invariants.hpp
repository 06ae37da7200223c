// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/lock_state.hpp"

#include <optional>
#include <string>

namespace holdfast::model {

// What is wrong with a state that a step just left behind, in a sentence; nothing if all is well.
std::optional<std::string> violated_invariant(const LockState& state, StoreTime now);

}  // namespace holdfast::model
