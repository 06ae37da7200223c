// SPDX-License-Identifier: Apache-2.0
#include "backends/memory/shard.hpp"

#include <algorithm>

namespace holdfast::backends::memory {

model::LockOutcome Shard::apply(const HashedName& name, const model::LockCommand& command,
                                model::World& world) {
  const std::lock_guard lock(mutex_);
  const bool acquires = std::holds_alternative<model::Acquire>(command.verb);
  auto entry = locks_.find(name);
  if (entry == locks_.end()) {
    if (!acquires) {
      model::LockState nobody;
      return model::step(nobody, command, world);
    }
    sweep_a_little(locks_, sweep_, [now = world.now()](const auto& state) {
      return model::forgettable(state, now);
    });
    entry = add(name);
  }
  model::LockOutcome outcome = model::step(entry->second, command, world);
  if (entry->second.idle()) remove(entry);
  return outcome;
}

Shard::Locks::iterator Shard::add(const HashedName& name) {
  if (spare_.empty()) return locks_.try_emplace(NameKey{std::string(name.text), name.hash}).first;
  spare_.key().text = name.text;
  spare_.key().hash = name.hash;
  return locks_.insert(std::move(spare_)).position;
}

void Shard::remove(Locks::iterator lock) {
  if (spare_.empty())
    spare_ = locks_.extract(lock);
  else
    locks_.erase(lock);
}

bool Shard::list(std::string_view prefix, std::string_view after, std::size_t room,
                 model::StoreTime now, std::vector<LockView>& out) const {
  const std::lock_guard lock(mutex_);
  using Entry = std::pair<const NameKey, model::LockState>;
  std::vector<const Entry*> found;
  for (const Entry& entry : locks_) {
    const bool wanted = entry.first.text.starts_with(prefix) && entry.first.text > after;
    if (wanted && !model::forgettable(entry.second, now)) found.push_back(&entry);
  }
  const std::size_t count = std::min(room, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), found.end(),
                    [](const Entry* a, const Entry* b) { return a->first.text < b->first.text; });
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(model::view(found[i]->first.text, found[i]->second, now));
  }
  return found.size() > count;
}

}  // namespace holdfast::backends::memory
