// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/options.hpp>

#include "runtime/clock.hpp"

#include <cstdint>
#include <deque>
#include <mutex>
#include <string_view>
#include <unordered_map>

namespace holdfast::forrst {

// Who released what a while ago, so that whoever releases twice can be told so. Of this process
// alone, and no more than so many: the oldest go first.
class ReleasedOwners {
 public:
  ReleasedOwners(Duration time, std::size_t most) : time_(time), most_(most) {}

  void remember(std::string_view name, std::string_view owner, runtime::LocalTime now);
  void forget(std::string_view name, std::string_view owner);
  bool has(std::string_view name, std::string_view owner, runtime::LocalTime now) const;

 private:
  struct Entry {
    std::uint64_t key;
    runtime::LocalTime until;
  };

  const Duration time_;
  const std::size_t most_;
  mutable std::mutex mutex_;
  std::deque<Entry> in_order_;                                    // guarded by mutex_
  std::unordered_map<std::uint64_t, runtime::LocalTime> by_key_;  // guarded by mutex_
};

}  // namespace holdfast::forrst
