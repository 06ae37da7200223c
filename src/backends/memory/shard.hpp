// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/memory/names.hpp"
#include "model/machine.hpp"

#include <mutex>
#include <string_view>
#include <vector>

namespace holdfast::backends::memory {

// A part of the names, behind one mutex. A name is here only while somebody holds or waits.
class alignas(64) Shard {
 public:
  // One step on one name. World's messages are the caller's to deliver, after the call.
  model::LockOutcome apply(const HashedName& name, const model::LockCommand& command,
                           model::World& world);

  // Appends up to `room` locks that start with `prefix` and come after `after`, by name. True if
  // there may be more.
  bool list(std::string_view prefix, std::string_view after, std::size_t room, model::StoreTime now,
            std::vector<LockView>& out) const;

 private:
  using Locks = NameMap<model::LockState>;

  Locks::iterator add(const HashedName& name);
  void remove(Locks::iterator lock);

  mutable std::mutex mutex_;
  // All below is guarded by mutex_.
  Locks locks_;
  Locks::node_type spare_;  // the last one removed: a lock is often followed by another
  std::size_t sweep_ = 0;
};

}  // namespace holdfast::backends::memory
