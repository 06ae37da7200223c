// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace holdfast::simulation {

// The source of every decision of a seed. Small, fast, and the same with every compiler.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31);
  }

  // Both ends included.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    const auto span = static_cast<std::uint64_t>(high - low) + 1;
    return low + static_cast<std::int64_t>(next() % span);
  }
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(next() % count); }

  // One in `n`; never if n is 0.
  bool one_in(std::uint32_t n) { return n != 0 && next() % n == 0; }

  // Short more often than long: half of the answers are below a hundredth of `high`.
  std::int64_t mostly_short(std::int64_t high) {
    return next() % 2 == 0 ? between(0, high / 100) : between(0, high);
  }

 private:
  std::uint64_t state_;
};

}  // namespace holdfast::simulation
