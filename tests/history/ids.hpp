// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "history/flat_json.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace holdfast::history {

// Gives whatever a file calls its things the numbers 1, 2, 3, … in order of appearance. A number
// and a string are never the same thing.
class Ids {
 public:
  // 0 if it was not seen before.
  std::uint32_t find(const FlatValue& called) const {
    if (called.kind == FlatValue::Kind::text) {
      const auto found = texts_.find(called.text);
      return found == texts_.end() ? 0 : found->second;
    }
    if (is_small(called)) return small_[called.magnitude];
    const auto found = numbers_.find(key(called));
    return found == numbers_.end() ? 0 : found->second;
  }

  std::uint32_t get(const FlatValue& called) {
    if (const std::uint32_t known = find(called)) return known;
    const std::uint32_t id = ++count_;
    if (called.kind == FlatValue::Kind::text) {
      texts_.emplace(called.text, id);
    } else if (!called.negative && called.magnitude <= 4 * std::uint64_t{count_} + 64) {
      // Numbers that are dense already, which is what the simulator writes, need no hashing.
      if (called.magnitude >= small_.size()) grow_to(called.magnitude);
      small_[called.magnitude] = id;
    } else {
      numbers_.emplace(key(called), id);
    }
    return id;
  }

  // A number for something without a name.
  std::uint32_t fresh() { return ++count_; }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  bool is_small(const FlatValue& called) const {
    return !called.negative && called.magnitude < small_.size() && small_[called.magnitude] != 0;
  }
  void grow_to(std::uint64_t index) { small_.resize(2 * index + 64); }
  static std::int64_t key(const FlatValue& called) {
    const auto magnitude = static_cast<std::int64_t>(called.magnitude);
    return called.negative ? -magnitude : magnitude;
  }

  std::uint32_t count_ = 0;
  std::vector<std::uint32_t> small_;
  std::unordered_map<std::int64_t, std::uint32_t> numbers_;
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> texts_;
};

}  // namespace holdfast::history
