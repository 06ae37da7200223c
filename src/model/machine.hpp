// SPDX-License-Identifier: Apache-2.0
//
// The machines that a store can run: each is a small record and a pure step. Locks are the first;
// another one joins by becoming an alternative of these variants.
#pragma once

#include "model/admission.hpp"
#include "model/codec.hpp"
#include "model/fence_guard.hpp"
#include "model/rate_limit.hpp"
#include "model/step.hpp"

#include <variant>

namespace holdfast::model {

// In the order of the variants below. A name means something else to each of them.
enum class Machine : std::uint8_t { lock = 1, fence_guard, rate_limit };

using Command = std::variant<LockCommand, GuardCommand, RateCommand>;
using State = std::variant<LockState, GuardState, RateState>;
using Outcome = std::variant<LockOutcome, GuardOutcome, RateOutcome>;

inline Machine machine_of(const Command& command) {
  return static_cast<Machine>(command.index() + 1);
}

// Whether the command changes nothing, whatever it finds.
inline bool only_looks(const Command& command) {
  if (const auto* rate = std::get_if<RateCommand>(&command)) {
    return rate->verb == RateCommand::Verb::peek;
  }
  const auto* lock = std::get_if<LockCommand>(&command);
  return lock != nullptr && std::holds_alternative<Inspect>(lock->verb);
}

inline Result<void> admissible(const Command& command) {
  return std::visit([](const auto& each) { return admissible(each); }, command);
}

}  // namespace holdfast::model
