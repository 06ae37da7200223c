// SPDX-License-Identifier: Apache-2.0
//
// Who won a vote, decided without a store, a clock or a thread. A majority of all members counts,
// not of those that answered: two majorities always share a member.
#pragma once

#include <holdfast/names.hpp>
#include <holdfast/view.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::backends::quorum {

// What one member said.
struct Ballot {
  enum class Verdict : std::uint8_t {
    pending,      // nothing yet
    yes,          // granted, renewed or released, as it was asked
    held,         // somebody else has it
    gone,         // there is nothing of ours to renew or to release
    other_fence,  // it has the lease, but not with the fence that was proposed
    refused,      // it will not, or its word does not count
    unreachable,  // it was not asked, or the connection broke
    too_slow,     // asked, and no answer in time
  };
  Verdict verdict = Verdict::pending;
  Fence fence = 0;                   // of a grant
  Micros remaining{};                // of a grant
  std::optional<Micros> held_for{};  // of a grant, where the member tells
  Micros retry_after{};              // of held: until the lease in the way ends
  std::string reason{};              // why it is no vote
};

std::string_view to_string(Ballot::Verdict verdict);

constexpr std::size_t majority_of(std::size_t members) { return members / 2 + 1; }

enum class Ruling : std::uint8_t { open, carried, lost };

// Certain as soon as a majority said yes, or so few can still say it that there will be none. With
// an even number of members a tie is lost.
Ruling rule(std::span<const Ballot> ballots);

std::size_t count(std::span<const Ballot> ballots, Ballot::Verdict verdict);

// Of a vote that is lost: whether there would have been a majority, if nobody else had it.
bool is_contended(std::span<const Ballot> ballots);

// Nothing that may still come changes the answer: it is carried, or lost and known why.
bool is_settled(std::span<const Ballot> ballots);

// How long the lease of a carried vote lasts: until so many members have ended it that no majority
// is left.
Micros lease_of(std::span<const Ballot> ballots);

// How long a majority has it; nothing where too few of them tell.
std::optional<Micros> held_for(std::span<const Ballot> ballots);

// The fence that a majority gave alike; nothing if they differ. Only such a fence is known to every
// later majority.
std::optional<Fence> agreed_fence(std::span<const Ballot> ballots);
// Of those that have the lease.
Fence largest_fence(std::span<const Ballot> ballots);
// Which fence of a lease that a majority has may be told, if only one that tells it from every
// later lease will do. Where they agree on none, the smallest: each later majority has a member of
// this one, and that one gives out a larger fence than it has here.
Fence fence_below_later_leases(std::span<const Ballot> ballots);

// Of a vote on a fence that is lost: whether a larger one may be agreed on.
bool is_fence_taken(std::span<const Ballot> ballots);

// Of a contended vote: when a majority may be free, if nobody renews.
Micros until_contenders_end(std::span<const Ballot> ballots);

}  // namespace holdfast::backends::quorum
