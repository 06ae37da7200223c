// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::server {

inline constexpr std::size_t max_contended_names = 1'000;

struct ContendedName {
  std::string name;
  std::uint64_t refused = 0;  // busy
  std::uint64_t waited = 0;   // had to wait, whatever came of it
  std::chrono::microseconds waited_for{};
  std::chrono::microseconds longest{};
};

enum class RankedBy : std::uint8_t {
  times,  // how often somebody did not get it at once
  time,   // how long it was waited for, all waits together
};

// The names that are most fought over. Bounded: when it is full, those that were seen least make
// room, so that a name which matters stays. Touched only where an acquire did not get its lock at
// once.
class Contention {
 public:
  void refused(std::string_view name);
  void waited(std::string_view name, std::chrono::microseconds time);
  // The most contended first.
  std::vector<ContendedName> top(std::size_t count, RankedBy rank = RankedBy::times) const;

 private:
  ContendedName& entry(std::string_view name);  // with mutex_ held

  mutable std::mutex mutex_;
  std::map<std::string, ContendedName, std::less<>> names_;  // guarded by mutex_
};

}  // namespace holdfast::server
