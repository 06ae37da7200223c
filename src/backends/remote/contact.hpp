// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
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
    const bool was_away = std::exchange(is_away_, false);
    const bool is_first = known_.empty();
    if (known_.size() >= most_known && !known_.contains(server)) known_.clear();
    const bool is_new = known_.insert(server).second;
    return was_away || (is_new && !is_first);
  }
  void failed() {
    const std::lock_guard lock(mutex_);
    is_away_ = true;
  }

 private:
  static constexpr std::size_t most_known = 64;

  std::mutex mutex_;
  std::set<std::string, std::less<>> known_;  // guarded by mutex_
  bool is_away_ = false;                      // guarded by mutex_
};

}  // namespace holdfast::backends::remote
