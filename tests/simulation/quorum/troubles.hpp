// SPDX-License-Identifier: Apache-2.0
//
// When a client and a member could not talk to each other. A lease that was lost although a
// majority could be talked to all the time was lost needlessly.
#pragma once

#include "simulation/plan.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace holdfast::simulation::quorum {

class Troubles {
 public:
  // `from` never goes back.
  void add(Time from, Time until) {
    if (!spans_.empty() && spans_.back().until >= from) {
      spans_.back().until = std::max(spans_.back().until, until);
    } else {
      spans_.push_back({from, until});
    }
  }

  // +1 where one begins and -1 where it ends, of those that touch the time between the two.
  void collect(Time from, Time to, std::vector<std::pair<Time, int>>& changes) const {
    for (auto span = spans_.rbegin(); span != spans_.rend() && span->until >= from; ++span) {
      if (span->from > to) continue;
      changes.emplace_back(span->from, 1);
      changes.emplace_back(span->until, -1);
    }
  }

 private:
  struct Span {
    Time from = 0;
    Time until = 0;
  };
  std::vector<Span> spans_;
};

// Whether at every moment at least `needed` of so many were without trouble.
inline bool were_well(std::vector<std::pair<Time, int>> changes, std::size_t members,
                      std::size_t needed) {
  // What ends in the moment in which another begins overlaps with it.
  std::ranges::sort(changes, [](const auto& a, const auto& b) {
    return std::pair(a.first, -a.second) < std::pair(b.first, -b.second);
  });
  std::ptrdiff_t troubled = 0;
  for (const auto& [at, change] : changes) {
    troubled += change;
    if (static_cast<std::ptrdiff_t>(members) - troubled < static_cast<std::ptrdiff_t>(needed)) {
      return false;
    }
  }
  return true;
}

}  // namespace holdfast::simulation::quorum
