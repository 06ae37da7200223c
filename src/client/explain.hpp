// SPDX-License-Identifier: Apache-2.0
//
// The sentences of the client's errors: what happened to which lock, and what is in the way.
#pragma once

#include "model/command.hpp"

#include <optional>
#include <string>

namespace holdfast::client {

std::string explain_busy(const LockName& name, const model::Busy& busy);
std::string explain_timeout(const LockName& name, Micros wait);
// For a wait that was too short for an answer.
Error explain_silence(const LockName& name, std::string_view store, Micros wait);

// A wait that ended while the store was away.
struct WaitInVain {
  Micros tried{};
  std::optional<Micros> away;           // of that; nothing: all of it
  std::optional<model::Queued> queued;  // what the store had said before
};
Error explain_outage(const LockName& name, const Error& last, const WaitInVain& wait);
std::string explain_late(const LockName& name);
std::string explain_cancel(const LockName& name);

// For the outcomes of a command that mean it could not be done: Refused, NotHeld, NotOwner.
Error explain_refusal(const LockName& name, const model::LockOutcome& outcome);

}  // namespace holdfast::client
