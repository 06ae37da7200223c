// SPDX-License-Identifier: Apache-2.0
//
// The floors of `memory:`: a sharded map with a mutex for each shard, and nothing else.
#pragma once

#include "runtime/clock.hpp"

#include <array>
#include <mutex>
#include <string>
#include <unordered_map>

namespace holdfast::bench {

template <typename Value>
class ShardedMap {
 public:
  struct alignas(64) Shard {
    std::mutex mutex;
    std::unordered_map<std::string, Value> locks;
  };

  Shard& shard_of(const std::string& name) {
    return shards_[std::hash<std::string>{}(name) >> 7 & (shards_.size() - 1)];
  }

 private:
  std::array<Shard, 64> shards_;
};

// Inserts and erases: less than a lock, since anybody may give back and nothing ever ends.
class BareTable {
 public:
  struct Value {
    std::uint64_t request;
    std::int64_t expires_us;
  };

  bool take(const std::string& name, Value value) {
    auto& shard = map_.shard_of(name);
    const std::lock_guard lock(shard.mutex);
    return shard.locks.try_emplace(name, value).second;
  }

  bool give_back(const std::string& name) {
    auto& shard = map_.shard_of(name);
    const std::lock_guard lock(shard.mutex);
    return shard.locks.erase(name) == 1;
  }

 private:
  ShardedMap<Value> map_;
};

// The least that could be called a lock table: only the owner gives back, and leases end.
class OwnedTable {
 public:
  using Time = runtime::LocalTime;

  bool take(const std::string& name, const std::string& owner, Time now, Time expires) {
    auto& shard = map_.shard_of(name);
    const std::lock_guard lock(shard.mutex);
    const auto [entry, is_new] = shard.locks.try_emplace(name, owner, expires);
    if (is_new) return true;
    if (entry->second.expires > now) return false;
    entry->second = {owner, expires};
    return true;
  }

  bool give_back(const std::string& name, const std::string& owner, Time now) {
    auto& shard = map_.shard_of(name);
    const std::lock_guard lock(shard.mutex);
    const auto entry = shard.locks.find(name);
    if (entry == shard.locks.end() || entry->second.owner != owner) return false;
    const bool was_held = entry->second.expires > now;
    shard.locks.erase(entry);
    return was_held;
  }

 private:
  struct Lease {
    std::string owner;
    Time expires;
  };
  ShardedMap<Lease> map_;
};

}  // namespace holdfast::bench
