// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/process/signals.hpp"

#include <functional>
#include <optional>
#include <stop_token>

namespace holdfast::cli {

struct Attention {
  // Called by the waiting thread after a moment, then every second.
  std::function<void()> tick;
  // A signal that ends a wait ends the program at once: nothing is held yet. Else the work is asked
  // to stop.
  bool dies_at_once = false;
};

// Runs `work` on another thread, since it may block for long, and returns when it is done; until
// then this thread reads signals. Returns the signal that ended the wait, if one did.
std::optional<int> attend(const Signals& signals, const Attention& attention,
                          const std::function<void(std::stop_token)>& work);

}  // namespace holdfast::cli
