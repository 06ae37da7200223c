// SPDX-License-Identifier: Apache-2.0
//
// Who won a vote among several stores, decided without one. The store `redlock://` will vote for
// every kind of lock and replace this.
#pragma once

#include <holdfast/names.hpp>
#include <holdfast/view.hpp>

#include <cstdint>
#include <span>

namespace holdfast::server::patterns {

// What one member said.
struct Vote {
  enum class Kind : std::uint8_t { granted, busy, silent };
  Kind kind = Kind::silent;  // silent: no answer in time, or one that is neither
  Fence fence = 0;           // of granted
  Micros retry_after{};      // of busy
};

struct Verdict {
  enum class Kind : std::uint8_t {
    won,
    busy,      // a majority answered, and others hold it
    too_few,   // so few answered that nobody could have won
    too_late,  // a majority granted it, and nothing is left of the lease
  };
  Kind kind = Kind::too_few;
  // Won: the largest of those that granted. Two majorities share a member, and there the later
  // fence is larger; but a member that only the earlier one had may have counted further. So it is
  // no strict order, which is one reason why redlock:// has to come.
  Fence fence = 0;
  Micros validity{};     // won: from the end of the vote on
  Micros retry_after{};  // busy: when a majority may be free, if nobody renews
};

std::size_t quorum_of(std::size_t members);

// `elapsed` is the time since before the first question of this attempt was sent.
Verdict decide(std::span<const Vote> votes, Micros ttl, Micros elapsed);

// Whether a lock that was won may have been another's before its release. `gone` are the members
// that no longer knew of it. Those that did not answer get the benefit of the doubt, since what
// they granted had not ended by our clock.
bool was_lost(std::size_t members, std::size_t gone);

}  // namespace holdfast::server::patterns
