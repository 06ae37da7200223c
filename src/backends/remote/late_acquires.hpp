// SPDX-License-Identifier: Apache-2.0
//
// Each command travels on a connection of its own, so a release may overtake the acquire that it
// takes back. Such a release is sent again when the acquire can no longer come.
#pragma once

#include "model/command.hpp"

#include <map>
#include <mutex>
#include <optional>

namespace holdfast::backends::remote {

// Which lease is meant. A request alone is not enough: callers who choose theirs use the same one
// for several names.
struct Meant {
  LockName name;
  OwnerId owner;
  model::RequestId request{};

  friend bool operator<(const Meant& a, const Meant& b) {
    if (a.request != b.request) return a.request < b.request;
    if (a.name != b.name) return a.name < b.name;
    return a.owner.view() < b.owner.view();
  }
};

// The bookkeeping. From any thread.
class LateAcquires {
 public:
  struct Again {
    LockName name;
    model::Release release;
  };
  struct Due {
    std::optional<Again> now;
    // An acquire was never answered: it may still be on the way, or wait at the server.
    bool and_later = false;
  };

  void sent(const Meant& meant) {
    const std::lock_guard lock(mutex_);
    auto& known = known_[meant];
    ++known.under_way;
    known.again.reset();  // it is wanted anew
  }

  // One of them is not under way any more; `is_sure` if it was answered, or never sent.
  Due settled(const Meant& meant, bool is_sure) {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(meant);
    if (found == known_.end()) return {};
    auto& [under_way, is_open, again] = found->second;
    is_open = is_open || !is_sure;
    if (--under_way > 0) return {};
    Due due{again, is_open};
    if (!is_open) known_.erase(found);
    return due;
  }

  // A release is being sent. True if an acquire was not answered before, so that it must be sent
  // again later.
  bool released(const LockName& name, const model::Release& release) {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(Meant{name, release.owner, release.request});
    if (found == known_.end()) return false;
    const bool was_known = found->second.again.has_value();
    found->second.again = Again{name, release};
    return found->second.under_way == 0 && !was_known;
  }

  // The release to send again later. Nothing if the request is wanted anew.
  std::optional<Again> later(const Meant& meant) {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(meant);
    return found == known_.end() ? std::nullopt : found->second.again;
  }

  // What was not answered has ended by now.
  void forget(const Meant& meant) {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(meant);
    if (found != known_.end() && found->second.under_way == 0) known_.erase(found);
  }

 private:
  struct Known {
    unsigned under_way = 0;
    bool is_open = false;        // one of them was not answered
    std::optional<Again> again;  // it was taken back meanwhile
  };

  std::mutex mutex_;
  std::map<Meant, Known> known_;  // guarded by mutex_
};

}  // namespace holdfast::backends::remote
