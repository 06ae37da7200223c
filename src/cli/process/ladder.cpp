// SPDX-License-Identifier: Apache-2.0
#include "cli/process/ladder.hpp"

#include <algorithm>

namespace holdfast::cli {

Duration kill_margin(Duration ttl) {
  return std::clamp(ttl / 20, Duration(std::chrono::milliseconds(1)),
                    Duration(std::chrono::milliseconds(100)));
}

Ladder::Step Ladder::look(LocalTime now, LocalTime valid_until, bool lost) {
  if (options_.on_lost == OnLost::ignore) return {};
  if (reached_ == Rung::kill) return {.signal = Rung::none, .dead_by = kill_at_};
  const auto end = valid_until - options_.margin;
  if (reached_ == Rung::term) {
    if (now >= kill_at_) return climb(Rung::kill, now);
    return {.signal = Rung::none, .look_again = kill_at_, .dead_by = kill_at_};
  }
  if (now >= end) return climb(Rung::kill, now);
  if (options_.on_lost == OnLost::kill) {
    if (lost) return climb(Rung::kill, now);
    return rest(now, end, end);
  }
  if (lost) return climb(Rung::term, now + options_.kill_after);
  const auto start = end - options_.kill_after;
  if (now >= start) return climb(Rung::term, end);
  return rest(now, start, end);
}

Ladder::Step Ladder::rest(LocalTime now, LocalTime next, LocalTime dead_by) const {
  const auto look_again = std::min<LocalTime>(next, now + options_.refresh);
  return {.signal = Rung::none, .look_again = look_again, .dead_by = dead_by};
}

Ladder::Step Ladder::climb(Rung rung, LocalTime dead_by) {
  reached_ = rung;
  kill_at_ = dead_by;
  const auto look_again = rung == Rung::kill ? LocalTime::max() : dead_by;
  return {.signal = rung, .look_again = look_again, .dead_by = dead_by};
}

}  // namespace holdfast::cli
