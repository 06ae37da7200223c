// SPDX-License-Identifier: Apache-2.0
#include "backends/quorum/vote.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace holdfast::backends::quorum {

using Verdict = Ballot::Verdict;

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::pending: return "no answer yet";
    case Verdict::yes: return "granted";
    case Verdict::held: return "held";
    case Verdict::gone: return "not held";
    case Verdict::other_fence: return "has another fence";
    case Verdict::refused: return "refused";
    case Verdict::unreachable: return "unreachable";
    case Verdict::too_slow: return "too slow";
  }
  std::unreachable();
}

std::size_t count(std::span<const Ballot> ballots, Verdict verdict) {
  return static_cast<std::size_t>(std::ranges::count(ballots, verdict, &Ballot::verdict));
}

Ruling rule(std::span<const Ballot> ballots) {
  const auto needed = majority_of(ballots.size());
  const auto yes = count(ballots, Verdict::yes);
  if (yes >= needed) return Ruling::carried;
  return yes + count(ballots, Verdict::pending) < needed ? Ruling::lost : Ruling::open;
}

bool is_contended(std::span<const Ballot> ballots) {
  const auto held = count(ballots, Verdict::held);
  return held > 0 && count(ballots, Verdict::yes) + held >= majority_of(ballots.size());
}

bool is_settled(std::span<const Ballot> ballots) {
  const auto ruling = rule(ballots);
  if (ruling != Ruling::lost || is_contended(ballots)) return ruling != Ruling::open;
  const auto at_most = count(ballots, Verdict::yes) + count(ballots, Verdict::held) +
                       count(ballots, Verdict::pending);
  return at_most < majority_of(ballots.size());
}

Micros lease_of(std::span<const Ballot> ballots) {
  std::vector<Micros> leases;
  for (const Ballot& ballot : ballots) {
    if (ballot.verdict == Verdict::yes) leases.push_back(ballot.remaining);
  }
  const auto needed = majority_of(ballots.size());
  if (leases.size() < needed) return Micros::zero();
  const auto last_needed = leases.begin() + static_cast<std::ptrdiff_t>(needed - 1);
  std::ranges::nth_element(leases, last_needed, std::greater<>());
  return *last_needed;
}

std::optional<Micros> held_for(std::span<const Ballot> ballots) {
  std::vector<Micros> told;
  for (const Ballot& ballot : ballots) {
    if (ballot.verdict == Verdict::yes && ballot.held_for) told.push_back(*ballot.held_for);
  }
  const auto needed = majority_of(ballots.size());
  if (told.size() < needed) return std::nullopt;
  const auto last_needed = told.begin() + static_cast<std::ptrdiff_t>(needed - 1);
  std::ranges::nth_element(told, last_needed, std::greater{});
  return *last_needed;
}

std::optional<Fence> agreed_fence(std::span<const Ballot> ballots) {
  for (const Ballot& candidate : ballots) {
    const auto same = std::ranges::count_if(ballots, [&](const Ballot& other) {
      return other.verdict == Verdict::yes && other.fence == candidate.fence;
    });
    if (static_cast<std::size_t>(same) >= majority_of(ballots.size())) return candidate.fence;
  }
  return std::nullopt;
}

Fence largest_fence(std::span<const Ballot> ballots) {
  Fence largest = 0;
  for (const Ballot& ballot : ballots) {
    const bool has_it = ballot.verdict == Verdict::yes || ballot.verdict == Verdict::other_fence;
    if (has_it) largest = std::max(largest, ballot.fence);
  }
  return largest;
}

Fence fence_below_later_leases(std::span<const Ballot> ballots) {
  if (const auto agreed = agreed_fence(ballots)) return *agreed;
  std::optional<Fence> smallest;
  for (const Ballot& ballot : ballots) {
    if (ballot.verdict != Verdict::yes) continue;
    smallest = std::min(smallest.value_or(ballot.fence), ballot.fence);
  }
  return smallest.value_or(0);
}

bool is_fence_taken(std::span<const Ballot> ballots) {
  const auto others = count(ballots, Verdict::other_fence);
  const auto at_most = others + count(ballots, Verdict::yes) + count(ballots, Verdict::pending);
  return others > 0 && at_most >= majority_of(ballots.size());
}

Micros until_contenders_end(std::span<const Ballot> ballots) {
  std::vector<Micros> in_the_way;
  for (const Ballot& ballot : ballots) {
    if (ballot.verdict == Verdict::held) in_the_way.push_back(ballot.retry_after);
  }
  const auto needed = majority_of(ballots.size());
  const auto yes = count(ballots, Verdict::yes);
  if (in_the_way.empty() || yes >= needed) return Micros::zero();
  // What was granted is given back and free again: as many more must end as are missing. Who was
  // not waited for may be free: better to ask once too often than to sleep for too long.
  const auto may_be_free = std::min(yes + count(ballots, Verdict::pending), needed - 1);
  const auto missing = std::min(needed - may_be_free, in_the_way.size());
  const auto last_needed = in_the_way.begin() + static_cast<std::ptrdiff_t>(missing - 1);
  std::ranges::nth_element(in_the_way, last_needed);
  return *last_needed;
}

}  // namespace holdfast::backends::quorum
