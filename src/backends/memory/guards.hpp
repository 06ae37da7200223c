// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/memory/names.hpp"
#include "model/fence_guard.hpp"

#include <array>
#include <mutex>

namespace holdfast::backends::memory {

// The fence guards of all resources. They share nothing with the locks, not even their mutexes.
class Guards {
 public:
  model::GuardOutcome check(const HashedName& name, const model::GuardCommand& command,
                            model::StoreTime now);

 private:
  struct alignas(64) Shard {
    std::mutex mutex;
    NameMap<model::GuardState> states;  // guarded by mutex
    std::size_t sweep = 0;              // guarded by mutex
  };

  std::array<Shard, shard_count> shards_;
};

}  // namespace holdfast::backends::memory
