// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/deadlock/deadlock.hpp"

#include <vector>

namespace holdfast::server {

struct DeadlockChanges {
  std::vector<Deadlock> appeared;
  std::vector<Deadlock> gone;
};

// Believes in a deadlock when two looks in a row show it with the same waits: a process with
// several threads may go on by itself, and a listing is not taken at one moment. Not thread-safe.
class DeadlockDetector {
 public:
  DeadlockChanges look(const std::vector<LockView>& locks, WallTime now);

  // By id. `since` stays as it was when a deadlock was first seen.
  const std::vector<Deadlock>& current() const { return current_; }

 private:
  std::vector<Deadlock> seen_;     // at the last look
  std::vector<Deadlock> current_;  // of these, the ones believed in
};

}  // namespace holdfast::server
