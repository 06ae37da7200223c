// SPDX-License-Identifier: Apache-2.0
#include "server/endpoints/patterns/quorum.hpp"

#include "client/validity.hpp"

#include <algorithm>
#include <vector>

namespace holdfast::server::patterns {

std::size_t quorum_of(std::size_t members) { return members / 2 + 1; }

Verdict decide(std::span<const Vote> votes, Micros ttl, Micros elapsed) {
  const auto quorum = quorum_of(votes.size());
  std::size_t granted = 0;
  Fence newest = 0;
  std::vector<Micros> in_the_way;
  for (const Vote& vote : votes) {
    if (vote.kind == Vote::Kind::granted) {
      ++granted;
      newest = std::max(newest, vote.fence);
    } else if (vote.kind == Vote::Kind::busy) {
      in_the_way.push_back(vote.retry_after);
    }
  }
  if (granted >= quorum) {
    const Micros validity = ttl - elapsed - client::drift_allowance(ttl);
    if (validity <= Micros::zero()) return {.kind = Verdict::Kind::too_late};
    return {.kind = Verdict::Kind::won, .fence = newest, .validity = validity};
  }
  const auto missing = quorum - granted;
  if (in_the_way.size() < missing) return {.kind = Verdict::Kind::too_few};
  // What was granted is given back and free again: as many more must end as are missing.
  const auto last_needed = in_the_way.begin() + static_cast<std::ptrdiff_t>(missing - 1);
  std::ranges::nth_element(in_the_way, last_needed);
  return {.kind = Verdict::Kind::busy, .retry_after = *last_needed};
}

bool was_lost(std::size_t members, std::size_t gone) { return members - gone < quorum_of(members); }

}  // namespace holdfast::server::patterns
