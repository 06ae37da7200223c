// SPDX-License-Identifier: Apache-2.0
#include "backends/memory/guards.hpp"

namespace holdfast::backends::memory {

model::GuardOutcome Guards::check(const HashedName& name, const model::GuardCommand& command,
                                  model::StoreTime now) {
  Shard& shard = shards_[name.shard()];
  const std::lock_guard lock(shard.mutex);
  auto entry = shard.states.find(name);
  if (entry == shard.states.end()) {
    sweep_a_little(shard.states, shard.sweep,
                   [now](const auto& state) { return model::forgettable(state, now); });
    entry = shard.states.try_emplace(NameKey{std::string(name.text), name.hash}).first;
  }
  return model::step(entry->second, command, now);
}

}  // namespace holdfast::backends::memory
