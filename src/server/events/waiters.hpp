// SPDX-License-Identifier: Apache-2.0
//
// Which waiters of a lock came and which gave up between two looks. A waiter has no fence, so it
// is known again by its party, else by what it says of itself, and by how long it has waited.
#pragma once

#include <holdfast/view.hpp>

#include "server/events/diff.hpp"

#include <vector>

namespace holdfast::server {

// Points into the views given. Whoever is right, the numbers are:
// waiters before - left - served + came == waiters after.
struct WaiterChanges {
  std::vector<const WaiterView*> left;
  std::vector<const WaiterView*> came;
  // For each of `granted`: the waiter that it must have been, or null.
  std::vector<const WaiterView*> served;
};

// `granted` are the holders of `after` that were not there before: some of them had waited.
WaiterChanges match_waiters(const LockView& before, const LockView& after,
                            const std::vector<const HolderView*>& granted, const Between& between);

}  // namespace holdfast::server
