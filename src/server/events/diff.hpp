// SPDX-License-Identifier: Apache-2.0
//
// What must have happened between two looks at the store. What came and went in between is not
// seen, and nothing is made up for locks that a look did not reach.
#pragma once

#include <holdfast/view.hpp>

#include "server/events/event.hpp"

#include <vector>

namespace holdfast::server {

struct Snapshot {
  std::vector<LockView> locks;
  bool complete = true;  // false: there were more locks than were looked at
};

struct Between {
  Micros elapsed{};  // from the one look to the other
  WallTime at{};     // when the later one was taken
  // A listing takes its time, so no lock is looked at exactly when its snapshot says.
  Micros slack = std::chrono::milliseconds(100);
};

// By lock in the order of `next`, then those that are gone; of one lock: what ended, who holds it
// now, what was renewed, who waits now. A name that stands twice in a snapshot counts once.
std::vector<Event> diff(const Snapshot& previous, const Snapshot& next, const Between& between);

}  // namespace holdfast::server
