// SPDX-License-Identifier: Apache-2.0
//
// The rate limits that are checked through this server. The store keeps each of them under a name
// of its own and has no list; so what is asked for here is remembered here.
#pragma once

#include <holdfast/rates.hpp>

#include "text/wall_time.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace holdfast::server {

// When it is full, the limit goes that was not checked for the longest time.
inline constexpr std::size_t max_shown_rates = 1'000;

struct ShownRate {
  std::string scope;  // what is counted under: what a token's prefixes have to cover
  RateRule rule;      // of the last check
  std::uint64_t allowed = 0;
  std::uint64_t denied = 0;
  RateOutcome last;
  text::WallTime last_at{};
  std::optional<text::WallTime> last_denied_at{};
};

// From any thread.
class RateBoard {
 public:
  explicit RateBoard(std::size_t limit = max_shown_rates) : limit_(limit) {}

  void checked(std::string_view scope, const RateRule& rule, const RateOutcome& outcome,
               text::WallTime at);
  void reset(std::string_view scope, const RateRule& rule);
  // Whatever was checked last comes first.
  std::vector<ShownRate> all() const;

 private:
  using Entries = std::list<ShownRate>;

  const std::size_t limit_;
  mutable std::mutex mutex_;  // what follows
  Entries entries_;           // the same order
  std::unordered_map<std::string, Entries::iterator> by_key_;
};

}  // namespace holdfast::server
