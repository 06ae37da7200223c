// SPDX-License-Identifier: Apache-2.0
#include "backends/memory/rates.hpp"

namespace holdfast::backends::memory {

RateOutcome Rates::apply(const HashedName& name, const model::RateCommand& command,
                         model::StoreTime now) {
  Shard& shard = shards_[name.shard()];
  const std::lock_guard lock(shard.mutex);
  auto entry = shard.states.find(name);
  if (entry == shard.states.end()) {
    model::RateState state;
    const auto outcome = model::step(state, command, now);
    // Whoever only looks leaves nothing behind.
    if (model::forgettable(state, now)) return outcome;
    sweep_a_little(shard.states, shard.sweep,
                   [now](const auto& each) { return model::forgettable(each, now); });
    shard.states.try_emplace(NameKey{std::string(name.text), name.hash}, std::move(state));
    return outcome;
  }
  const auto outcome = model::step(entry->second, command, now);
  if (model::forgettable(entry->second, now)) shard.states.erase(entry);
  return outcome;
}

std::size_t Rates::size() const {
  std::size_t all = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    all += shard.states.size();
  }
  return all;
}

}  // namespace holdfast::backends::memory
