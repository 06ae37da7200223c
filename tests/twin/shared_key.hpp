// SPDX-License-Identifier: Apache-2.0
//
// The key that a dialect shares with other programs, and whether it says what the model says.
#pragma once

#include "backends/redis/dialect.hpp"
#include "net/resp/reply.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::test {

struct SharedKey {
  std::string owner;
  std::uint64_t depth = 0;
  model::StoreTime ends{};
};

// Reads the keys of one lock as those programs do: end (ms), owner and depth, or nothing.
extern const std::string_view shared_key_script;
std::optional<SharedKey> shared_key_from(const redisReply& reply);

// What differs; nothing if the key says who holds the lock, how often and for how long. `is_look`
// if nothing was allowed to be changed: what has ended may still be there.
std::optional<std::string> difference(const model::LockState& after, model::StoreTime now,
                                      const std::optional<SharedKey>& key, Micros unit,
                                      bool is_look);

}  // namespace holdfast::test
