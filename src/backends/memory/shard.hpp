// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine.hpp"

#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace holdfast::backends::memory {

// A part of the names, behind one mutex. A name is here only while somebody holds or waits.
class alignas(64) Shard {
 public:
  // One step on one name. World's messages are the caller's to deliver, after the call.
  model::LockOutcome apply(const LockName& name, const model::LockCommand& command,
                           model::World& world);

  // Appends up to `room` locks that start with `prefix` and come after `after`, by name. True if
  // there may be more.
  bool list(std::string_view prefix, std::string_view after, std::size_t room,
            model::StoreTime now, std::vector<LockView>& out) const;

 private:
  void sweep_a_little(model::StoreTime now);

  mutable std::mutex mutex_;
  std::unordered_map<std::string, model::LockState> locks_;  // guarded by mutex_
  std::size_t sweep_ = 0;                                    // guarded by mutex_
};

}  // namespace holdfast::backends::memory
