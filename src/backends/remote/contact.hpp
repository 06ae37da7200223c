// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/clock.hpp"

#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace holdfast::backends::remote {

// Remembers which servers have answered, and tells when what was granted may be forgotten: a server
// that was not reachable answers again, or one that never answered before. Several servers behind
// one address are each a stranger once. Only a connection that was refused or broke counts as not
// reachable: who lost patience, perhaps in our own queue, says nothing about the server.
class Contact {
 public:
  // True if every lease should be confirmed.
  bool answered(const std::string& server) {
    const std::lock_guard lock(mutex_);
    const auto away_since = std::exchange(away_since_, std::nullopt);
    const bool is_first = known_.empty();
    if (known_.size() >= most_known && !known_.contains(server)) known_.clear();
    const bool is_stranger = known_.insert(server).second && !is_first;
    if (!away_since && !is_stranger) return false;
    known_since_ = is_stranger ? runtime::LocalTime::max() : *away_since;
    return true;
  }
  void failed(runtime::LocalTime at) {
    const std::lock_guard lock(mutex_);
    if (!away_since_) away_since_ = at;
  }
  // What was asked then or later was answered by a server that is there now.
  runtime::LocalTime known_since() const {
    const std::lock_guard lock(mutex_);
    return known_since_;
  }

 private:
  static constexpr std::size_t most_known = 64;

  mutable std::mutex mutex_;
  std::set<std::string, std::less<>> known_;                    // guarded by mutex_
  std::optional<runtime::LocalTime> away_since_;                // guarded by mutex_
  runtime::LocalTime known_since_ = runtime::LocalTime::max();  // guarded by mutex_
};

}  // namespace holdfast::backends::remote
