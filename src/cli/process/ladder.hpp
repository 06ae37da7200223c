// SPDX-License-Identifier: Apache-2.0
//
// When a command that runs under a lease is told to stop, and when it is made to. Plain decisions:
// no clock, no signals.
//
// A command must be gone before its lease ends, because from then on somebody else may be granted
// the lock. So while the store cannot be reached the ladder starts `kill_after` before that end. If
// the store itself says that the lease is over, it is too late for that, and the ladder starts at
// once.
#pragma once

#include <holdfast/options.hpp>

#include "runtime/clock.hpp"

#include <cstdint>

namespace holdfast::cli {

using runtime::LocalTime;

enum class OnLost : std::uint8_t {
  term,    // SIGTERM, then SIGKILL
  kill,    // SIGKILL
  ignore,  // the command goes on without the lock
};

struct LadderOptions {
  OnLost on_lost = OnLost::term;
  Duration kill_after{};  // between SIGTERM and SIGKILL
  Duration margin{};      // SIGKILL is sent this long before the lease ends
  Duration refresh{};     // look at least this often, so that the guard learns of renewals
};

// What a command needs to be gone after SIGKILL, and a timer to be late.
Duration kill_margin(Duration ttl);

class Ladder {
 public:
  enum class Rung : std::uint8_t { none, term, kill };

  struct Step {
    Rung signal = Rung::none;                 // to send now
    LocalTime look_again = LocalTime::max();  // at the latest
    LocalTime dead_by = LocalTime::max();     // when SIGKILL is due if nothing changes
  };

  explicit Ladder(LadderOptions options) : options_(options) {}

  // `valid_until` is what the lease was known to last before it was lost, if it was.
  Step look(LocalTime now, LocalTime valid_until, bool lost);

  bool has_started() const { return reached_ != Rung::none; }

 private:
  Step rest(LocalTime now, LocalTime next, LocalTime dead_by) const;
  Step climb(Rung rung, LocalTime dead_by);

  LadderOptions options_;
  Rung reached_ = Rung::none;
  LocalTime kill_at_ = LocalTime::max();
};

}  // namespace holdfast::cli
