// SPDX-License-Identifier: Apache-2.0
//
// The machines that a store can run: each is a small record and a pure step. Locks are the first;
// another one joins by becoming an alternative of these variants.
#pragma once

#include "model/admission.hpp"
#include "model/codec.hpp"
#include "model/fence_guard.hpp"
#include "model/idempotency.hpp"
#include "model/rate_limit.hpp"
#include "model/step.hpp"

#include <variant>

namespace holdfast::model {

// In the order of the variants below. A name means something else to each of them.
enum class Machine : std::uint8_t { lock = 1, fence_guard, rate_limit, idempotency };

using Command = std::variant<LockCommand, GuardCommand, RateCommand, RunCommand>;
using State = std::variant<LockState, GuardState, RateState, RunState>;
using Outcome = std::variant<LockOutcome, GuardOutcome, RateOutcome, RunOutcome>;

inline Machine machine_of(const Command& command) {
  return static_cast<Machine>(command.index() + 1);
}

// Whether the command changes nothing, whatever it finds.
inline bool only_looks(const Command& command) {
  if (const auto* rate = std::get_if<RateCommand>(&command)) {
    return rate->verb == RateCommand::Verb::peek;
  }
  if (const auto* run = std::get_if<RunCommand>(&command)) {
    return run->verb == RunCommand::Verb::look;
  }
  const auto* lock = std::get_if<LockCommand>(&command);
  return lock != nullptr && std::holds_alternative<Inspect>(lock->verb);
}

inline Result<void> admissible(const Command& command) {
  return std::visit([](const auto& each) { return admissible(each); }, command);
}

}  // namespace holdfast::model
