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
    sweep_a_little(world.now());
    entry = add(name);
  }
  model::LockOutcome outcome = model::step(entry->second, command, world);
  if (entry->second.idle()) remove(entry);
  return outcome;
}

Shard::Locks::iterator Shard::add(const HashedName& name) {
  if (spare_.empty()) return locks_.try_emplace(Key{std::string(name.text), name.hash}).first;
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

// Leases that ended without anybody asking again leave entries behind. Looking at two buckets for
// every new name goes once around the map while it doubles: no thread, no timer per lock.
void Shard::sweep_a_little(model::StoreTime now) {
  constexpr int buckets_per_new_name = 2;
  if (locks_.empty()) return;
  for (int i = 0; i < buckets_per_new_name; ++i) {
    sweep_ = (sweep_ + 1) % locks_.bucket_count();
    const auto stale =
        std::find_if(locks_.begin(sweep_), locks_.end(sweep_),
                     [now](const auto& lock) { return model::forgettable(lock.second, now); });
    if (stale != locks_.end(sweep_)) locks_.erase(locks_.find(stale->first));
  }
}

bool Shard::list(std::string_view prefix, std::string_view after, std::size_t room,
                 model::StoreTime now, std::vector<LockView>& out) const {
  const std::lock_guard lock(mutex_);
  using Entry = std::pair<const Key, model::LockState>;
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
