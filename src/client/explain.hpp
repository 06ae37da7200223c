// SPDX-License-Identifier: Apache-2.0
//
// The sentences of the client's errors: what happened to which lock, and what is in the way.
#pragma once

#include "model/command.hpp"

#include <string>

namespace holdfast::client {

std::string explain_busy(const LockName& name, const model::Busy& busy);
std::string explain_timeout(const LockName& name, Micros wait);
std::string explain_late(const LockName& name);
std::string explain_cancel(const LockName& name);

// For the outcomes of a command that mean it could not be done: Refused, NotHeld, NotOwner.
Error explain_refusal(const LockName& name, const model::LockOutcome& outcome);

}  // namespace holdfast::client
