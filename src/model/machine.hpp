// SPDX-License-Identifier: Apache-2.0
//
// Locks are the first of a few machines that a store can run: a small record and a pure step.
// Another one joins by becoming an alternative of these variants.
#pragma once

#include "model/admission.hpp"
#include "model/codec.hpp"
#include "model/step.hpp"

#include <variant>

namespace holdfast::model {

enum class Machine : std::uint8_t { lock = 1 };

using Command = std::variant<LockCommand>;
using State = std::variant<LockState>;
using Outcome = std::variant<LockOutcome>;

inline Machine machine_of(const Command& command) {
  return static_cast<Machine>(command.index() + 1);
}

}  // namespace holdfast::model
