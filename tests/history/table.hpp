// SPDX-License-Identifier: Apache-2.0
//
// A map from two numbers to a value that is emptied in no time: what an earlier round wrote is
// known by its number and counts as absent.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace holdfast::history {

template <typename Value>
class Table {
 public:
  // Empties the table and makes room for about `count` entries.
  void start(std::size_t count) {
    const std::size_t wanted = std::bit_ceil(2 * count + 16);
    if (wanted > slots_.size()) slots_.assign(wanted, {});
    mask_ = wanted - 1;
    size_ = 0;
    if (++round_ != 0) return;
    slots_.assign(slots_.size(), {});
    round_ = 1;
  }

  // A new entry is a default value. The reference is good until the next call.
  Value& at(std::uint64_t first, std::uint32_t second) {
    Slot* slot = &find(first, second);
    if (slot->round == round_) return slot->value;
    if (2 * ++size_ > mask_ + 1) {
      grow();
      slot = &find(first, second);
    }
    *slot = {first, second, round_, {}};
    return slot->value;
  }

 private:
  struct Slot {
    std::uint64_t first = 0;
    std::uint32_t second = 0;
    std::uint32_t round = 0;
    Value value{};
  };

  static std::size_t hash(std::uint64_t first, std::uint32_t second) {
    const std::uint64_t mixed = (first ^ (std::uint64_t{second} << 40U)) * 0x9E3779B97F4A7C15U;
    return static_cast<std::size_t>(mixed ^ (mixed >> 32U));
  }

  // The slot of this key, or the one where it belongs.
  Slot& find(std::uint64_t first, std::uint32_t second) {
    std::size_t place = hash(first, second) & mask_;
    while (slots_[place].round == round_) {
      if (slots_[place].first == first && slots_[place].second == second) break;
      place = (place + 1) & mask_;
    }
    return slots_[place];
  }

  void grow() {
    std::vector<Slot> old(2 * (mask_ + 1));
    old.swap(slots_);
    const std::size_t used = mask_ + 1;
    mask_ = slots_.size() - 1;
    for (std::size_t i = 0; i < used; ++i) {
      if (old[i].round == round_) find(old[i].first, old[i].second) = old[i];
    }
  }

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
  std::uint32_t round_ = 0;
};

}  // namespace holdfast::history
