// SPDX-License-Identifier: Apache-2.0
//
// What a seed stands for where several servers vote: how many, how well they keep time and their
// memory, who wants the locks, and what is going to go wrong.
#pragma once

#include "backends/quorum/options.hpp"
#include "simulation/plan.hpp"

#include <vector>

namespace holdfast::simulation::quorum {

// What no promise covers. Such seeds must show it, or the checks are blind.
enum class Hole : std::uint8_t {
  none,
  no_grace,          // a member that lost its memory is counted at once by those who never met it
  majority_forgets,  // the same, and several at once
};

// Each is "one in so many"; 0 is never. The first group is rolled for every message, the second at
// every turn of a process, the third whenever trouble comes.
struct Faults {
  std::uint32_t lose = 0;
  std::uint32_t slow = 0;  // up to 0.8 s
  std::uint32_t duplicate = 0;
  std::uint32_t cut_at_vote = 0;  // a client cannot send for up to a ttl, once a member has voted
  std::uint32_t reconnect = 0;    // after a command that was not answered in time

  std::uint32_t stop = 0;  // up to 2 ttl

  std::uint32_t cancel = 0;  // of the attempts
  std::uint32_t crash = 0;   // of the troubles, as all below
  std::uint32_t cut = 0;     // one client from one member, or a member from everybody
  std::uint32_t reset = 0;
  std::uint32_t restart = 0;
  std::uint32_t amnesia = 0;
  std::uint32_t roll = 0;  // every member is restarted, one after the other
  std::uint32_t step_clock = 0;
  std::uint32_t bend_clock = 0;  // another rate from now on
  std::uint32_t join = 0;        // a client that never met the members before
  std::uint32_t force = 0;       // of the times between two attempts
};

struct MemberClock {
  Time ahead = 0;  // of the time that nobody can see
  std::int64_t rate_ppm = 0;
};

struct Plan {
  std::vector<MemberClock> clocks;  // one for each member
  std::int64_t fastest_ppm = 0;
  bool members_keep_memory = true;
  backends::quorum::Options options;
  Time ttl = 0;  // the longest
  Time shortest_ttl = 0;
  unsigned clients = 0;
  unsigned workers = 0;  // in each of them
  unsigned enough_grants = 0;
  Time longest = 0;  // the bad part of the day
  Time latency = 0;
  std::vector<LockName> names;
  std::vector<model::LockSpec> specs;  // of each name
  Faults faults;

  std::size_t members() const { return clocks.size(); }
};

Plan make_plan(std::uint64_t seed, Hole hole, Dice& dice);

}  // namespace holdfast::simulation::quorum
