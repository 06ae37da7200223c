// SPDX-License-Identifier: Apache-2.0
#include "server/endpoints/patterns/pattern.hpp"

#include "server/options.hpp"

#include <algorithm>
#include <array>

namespace holdfast::server::patterns {

using namespace std::chrono_literals;

namespace {

constexpr std::array<Pattern, 7> table{{
    {.word = "simple",
     .prefix = "lock:simple:",
     .health = "simpleMutex",
     .type = "Single-instance fail-fast",
     .may_wait = false},
    {.word = "retry",
     .prefix = "lock:retry:",
     .health = "retryLock",
     .type = "Single-instance, asks again with back-off",
     .asks_again = true,
     .wait = 10s},
    {.word = "watchdog",
     .prefix = "lock:watchdog:",
     .health = "watchdogLock",
     .type = "Single-instance, renewed while the operation runs",
     .is_renewed = true,
     .ttl = 10s},
    {.word = "reentrant",
     .prefix = "lock:reentrant:",
     .health = "reentrantLock",
     .type = "Single-instance, the same owner enters again",
     .kind = Kind::reentrant},
    {.word = "read-write",
     .prefix = "lock:read-write:",
     .health = "readWriteLock",
     .type = "Single-instance, many readers or one writer",
     .kind = Kind::read_write},
    {.word = "fair",
     .prefix = "lock:fair:",
     .health = "fairLock",
     .type = "Single-instance, first come first served",
     .order = Order::fifo,
     .wait = 30s},
    {.word = "redlock",
     .prefix = "lock:red:",
     .health = "redlock",
     .type = "Multi-instance consensus",
     .is_a_vote = true,
     .may_wait = false},
}};

}  // namespace

std::span<const Pattern> all_patterns() { return table; }

const Pattern* find_pattern(std::string_view word) {
  const auto found = std::ranges::find(table, word, &Pattern::word);
  return found == table.end() ? nullptr : &*found;
}

std::string Pattern::lock_name(std::string_view resource) const {
  return std::string(prefix).append(resource);
}

Duration Pattern::ttl_with(const PatternOptions& options) const {
  return ttl == Duration::zero() ? options.ttl : ttl;
}

model::LockSpec Pattern::spec() const {
  switch (kind) {
    case Kind::reentrant: return model::LockSpec::reentrant(order);
    case Kind::read_write: return model::LockSpec::read_write(order);
    default: return model::LockSpec::mutex(order);
  }
}

}  // namespace holdfast::server::patterns
