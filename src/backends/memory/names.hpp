// SPDX-License-Identifier: Apache-2.0
//
// Maps from names to records, which the shards are made of.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace holdfast::backends::memory {

inline constexpr std::size_t shard_count = 64;

// A name with its hash, which is taken once, for choosing the shard and for its map.
struct HashedName {
  explicit HashedName(std::string_view text)
      : text(text), hash(std::hash<std::string_view>{}(text)) {}
  // By bits that the map inside the shard, whose size is a prime, does not lean on.
  std::size_t shard() const { return hash >> 48U & (shard_count - 1); }

  std::string_view text;
  std::size_t hash;
};

struct NameKey {
  std::string text;
  std::size_t hash;
};
struct NameHash {
  using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name
  std::size_t operator()(const auto& name) const noexcept { return name.hash; }
};
struct SameName {
  using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name
  bool operator()(const auto& a, const auto& b) const noexcept { return a.text == b.text; }
};

template <typename Record>
using NameMap = std::unordered_map<NameKey, Record, NameHash, SameName>;

// What ended without anybody asking again leaves entries behind. Looking at two buckets for every
// new name goes once around the map while it doubles: no thread, no timer per name. `at` is where
// it goes on.
template <typename Record, typename Condition>
void sweep_a_little(NameMap<Record>& records, std::size_t& at, Condition is_left_behind) {
  constexpr int buckets_per_new_name = 2;
  if (records.empty()) return;
  for (int i = 0; i < buckets_per_new_name; ++i) {
    at = (at + 1) % records.bucket_count();
    auto entry = records.begin(at);
    while (entry != records.end(at) && !is_left_behind(entry->second)) ++entry;
    if (entry != records.end(at)) records.erase(records.find(entry->first));
  }
}

}  // namespace holdfast::backends::memory
