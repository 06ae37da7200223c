// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/client.hpp>

#include "cli/context.hpp"
#include "cli/lock_choice.hpp"
#include "cli/process/signals.hpp"

#include <optional>
#include <string>
#include <vector>

namespace holdfast::cli {

struct Wanted {
  LockChoice choice;
  std::vector<std::string> names;  // at least one; several are taken together or not at all
  AcquireOptions options;          // its wait is not used
  std::optional<Duration> wait;    // nothing: for ever
};

struct OpenStore {
  Client client;
  bool is_local = false;  // it answers so quickly that nobody need be able to interrupt it
};

// Opens the store in force, which others must be able to see. A signal that ends a program ends
// this one at once.
Result<OpenStore> open_attended(Context& context, const Signals& signals);

// Takes the locks, each for its whole ttl. While that takes time, a person at the terminal is shown
// for whom; a signal that ends a program leaves the queue and ends this one. Errors as
// Lockable::acquire, and deadlock where this program runs under the very lock it would wait for.
Result<std::vector<Lease>> take(const OpenStore& store, const Wanted& wanted,
                                const Console& console, const Signals& signals);

}  // namespace holdfast::cli
