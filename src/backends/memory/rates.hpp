// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/memory/names.hpp"
#include "model/rate_limit.hpp"

#include <array>
#include <mutex>

namespace holdfast::backends::memory {

// The rate limits of all names. A name is here only while something counts, or until others came.
class Rates {
 public:
  RateOutcome apply(const HashedName& name, const model::RateCommand& command,
                    model::StoreTime now);
  // How many limits take up room.
  std::size_t size() const;

 private:
  struct alignas(64) Shard {
    mutable std::mutex mutex;
    NameMap<model::RateState> states;  // guarded by mutex
    std::size_t sweep = 0;             // guarded by mutex
  };

  std::array<Shard, shard_count> shards_;
};

}  // namespace holdfast::backends::memory
