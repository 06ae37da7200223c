// SPDX-License-Identifier: Apache-2.0
//
// The patterns of /api/locks, as data: what differs between them is how the lock is asked for and
// how long it is kept, never the code that does it.
#pragma once

#include <holdfast/options.hpp>

#include "model/lock_state.hpp"

#include <span>
#include <string>
#include <string_view>

namespace holdfast::server {
struct PatternOptions;
}

namespace holdfast::server::patterns {

struct Pattern {
  std::string_view word;    // in the path
  std::string_view prefix;  // of the lock's name
  std::string_view health;  // its name in GET /health
  std::string_view type;    // one line about it, there
  Kind kind = Kind::mutex;
  Order order = Order::automatic;
  bool asks_again = false;  // waits by asking with back-off instead of standing in line
  bool is_renewed = false;  // else the operation must end within the ttl
  bool is_a_vote = false;   // among the members of server.patterns.redlock.store
  bool may_wait = true;     // else `waitMs` is refused: failing fast is the point of it
  Duration ttl{};           // zero: server.patterns.ttl
  Duration wait{};          // unless the request says otherwise

  std::string lock_name(std::string_view resource) const;
  Duration ttl_with(const PatternOptions& options) const;
  model::LockSpec spec() const;
};

std::span<const Pattern> all_patterns();
// Null for a word that is none.
const Pattern* find_pattern(std::string_view word);

}  // namespace holdfast::server::patterns
