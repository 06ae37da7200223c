// SPDX-License-Identifier: Apache-2.0
//
// What was told lately, so that an acquire through this server is told once: not again when it is
// seen on the store.
#pragma once

#include "runtime/clock.hpp"
#include "server/events/event.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>

namespace holdfast::server {

using runtime::LocalTime;

// Not thread-safe. Bounded: when it is full the oldest goes, and something may be told twice.
class Told {
 public:
  explicit Told(std::chrono::nanoseconds keep, std::size_t limit = 65'536)
      : keep_(keep), limit_(limit) {}

  void remember(const Event& event, LocalTime now);

  // Whether that was told already, be it in another word: a lease ends once, whether it is called
  // released, expired, lost or forced, and a forced release ends every older lease of its lock.
  // What is told of a wait has no fence and answers for one wait of its party.
  bool take(const Event& event, LocalTime now);

  std::size_t size() const { return order_.size(); }

 private:
  struct Entry {
    std::string key;
    LocalTime until;
  };
  struct Times {
    std::uint32_t open = 0;
    std::uint32_t taken = 0;
    Fence up_to = 0;  // of forced releases
  };

  void add(std::string key, Fence up_to, LocalTime now);
  void forget_old(LocalTime now);
  void forget_first();

  const std::chrono::nanoseconds keep_;
  const std::size_t limit_;
  std::deque<Entry> order_;
  std::unordered_map<std::string, Times> times_;
};

}  // namespace holdfast::server
