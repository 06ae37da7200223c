// SPDX-License-Identifier: Apache-2.0
//
// Were the promises kept? Every rule is checked per name and from the history alone.
#pragma once

#include "history/history.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::history {

enum class Rule : std::uint8_t {
  fences_grow = 1,        // C1  unique, and growing in the order of the grants; a re-entry keeps it
  no_overlap = 2,         // C2  leases believed in at once never take more than there is
  renewals_end = 3,       // C3  no renewal after the release, nor after a later grant
  released_once = 4,      // C4  a release works once, for its own lease, and leaves nothing
  old_fence_refused = 5,  // C5  the resource takes no older fence after a newer one
  orphans_vanish = 6,     // C6  what nobody wants any more ends within ttl + 1 s
  first_come_first_served = 7,  // C7  fifo order, except for those who could not be reached
  nothing_lost = 8,             // C8  increments through the fenced resource add up
  loss_told_in_time = 9,        // C9  `lost` comes no later than the believed end
  everybody_served = 10,        // C10 without faults every live waiter is served within 3 ttl
  needless_loss = 11,           // C11 no lease is lost while its process runs and its store answers
  untrue_answer = 12,           // C12 who is told that nothing happened has left nothing behind
  well_formed = 13,             //     the history itself makes sense
};

struct Violation {
  Rule rule{};
  std::size_t event = 0;  // index of the event that broke the rule
  OpId op = 0;
  OpId other = 0;   // the other attempt involved, if any
  std::string why;  // a sentence with the numbers
};

// "C2 no_overlap".
std::string_view to_string(Rule rule);

// Keeps its memory between histories; one per thread.
class Checker {
 public:
  Checker();
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;
  ~Checker();

  // At most `limit` violations, in order of rule, then of event.
  std::vector<Violation> check(const History& history, std::size_t limit = 20);
  // How many the last check found, those beyond its limit included.
  std::size_t found() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holdfast::history
