// SPDX-License-Identifier: Apache-2.0
//
// A listing as a graph of nodes, waits and locks, and its reduction: whoever can go on is removed,
// until only those are left whom nobody will ever serve. A waiter points to its lock and the lock
// to its holders, so that a crowd at one lock makes no square of arrows.
#pragma once

#include <holdfast/view.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace holdfast::server {

inline constexpr std::size_t nobody = std::numeric_limits<std::size_t>::max();

struct WaitGraph {
  struct Node {
    std::string text;
    std::vector<std::size_t> waits;
    std::vector<std::size_t> holds;  // indices of holds
    std::size_t unserved = 0;        // of its waits
    bool goes_on = false;
  };
  struct Hold {
    std::size_t node = nobody;
    std::size_t barrier_all = 0;
    std::size_t barrier_exclusive = nobody;
    std::uint64_t weight = 1;
  };
  // What stands in the way of the waits at one lock: the weight of the holders that do not go on.
  struct Barrier {
    std::uint64_t weight = 0;
    std::vector<std::size_t> holds;
    std::vector<std::size_t> waits;  // those that are content with most come first
    std::size_t passed = 0;          // of the waits
  };
  // Besides the waits of a listing there are gates in a queue, which nobody waits at himself: one
  // is served when every exclusive wait before it is.
  struct Wait {
    std::size_t node = nobody;  // nobody: of somebody unknown, or a gate
    std::size_t lock = 0;
    const WaiterView* view = nullptr;  // null: a gate
    std::size_t barrier = 0;
    std::uint64_t content = 0;          // passes once no more weight than this is left
    std::vector<std::size_t> behind{};  // the waits that must be served before
    std::vector<std::size_t> followers{};
    bool passed = false;
    bool served = false;
  };

  std::vector<Node> nodes;
  std::vector<Hold> holds;
  std::vector<Barrier> barriers;  // two for each lock: all its holders, its exclusive holders
  std::vector<Wait> waits;
};

// Holds and waits point into `locks`. Already reduced.
WaitGraph reduced_graph(const std::vector<LockView>& locks);

}  // namespace holdfast::server
