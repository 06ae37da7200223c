// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/memory/names.hpp"
#include "model/lock_state.hpp"

#include <array>
#include <mutex>

namespace holdfast::backends::memory {

// The records of one machine, by name. They share nothing with the locks, not even their mutexes. A
// name is here only while something is known of it, or until others came.
template <typename State>
class Records {
 public:
  // One step: what `step(state)` makes of the name's record is kept.
  template <typename Step>
  auto apply(const HashedName& name, model::StoreTime now, Step step) {
    Shard& shard = shards_[name.shard()];
    const std::lock_guard lock(shard.mutex);
    auto entry = shard.states.find(name);
    if (entry == shard.states.end()) {
      State state;
      auto outcome = step(state);
      // Whoever only looks leaves nothing behind.
      if (forgettable(state, now)) return outcome;
      sweep_a_little(shard.states, shard.sweep,
                     [now](const State& each) { return forgettable(each, now); });
      shard.states.try_emplace(NameKey{std::string(name.text), name.hash}, std::move(state));
      return outcome;
    }
    auto outcome = step(entry->second);
    if (forgettable(entry->second, now)) shard.states.erase(entry);
    return outcome;
  }

  // How many of them take up room.
  std::size_t size() const {
    std::size_t all = 0;
    for (const Shard& shard : shards_) {
      const std::lock_guard lock(shard.mutex);
      all += shard.states.size();
    }
    return all;
  }

 private:
  struct alignas(64) Shard {
    mutable std::mutex mutex;
    NameMap<State> states;  // guarded by mutex
    std::size_t sweep = 0;  // guarded by mutex
  };

  std::array<Shard, shard_count> shards_;
};

}  // namespace holdfast::backends::memory
