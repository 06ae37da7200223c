// SPDX-License-Identifier: Apache-2.0
//
// What a quorum promises, checked on the history alone. It promises less than one server: there is
// no common queue, and clocks count.
#pragma once

#include "history/check.hpp"

#include <vector>

namespace holdfast::simulation::quorum {

struct Promises {
  bool fences = true;
  // Once a member's clock was set, two may hold the lock at once. The fences of two that ask one
  // after the other grow all the same.
  history::Time exclusive_until = history::for_ever;
};

// C1: fences are unique and grow in the order of the grants. C2: no two that exclude each other
// believe in it at once.
std::vector<history::Violation> check(const history::History& history, const Promises& promises);

}  // namespace holdfast::simulation::quorum
