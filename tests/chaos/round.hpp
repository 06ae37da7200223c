// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::faults {

// What happened, in one round or in many.
struct Tally {
  std::uint64_t rounds = 0;
  std::uint64_t failed = 0;
  std::uint64_t operations = 0;  // acquires and upgrades, with all that followed
  std::uint64_t losses = 0;
  std::uint64_t violations = 0;
  std::map<std::string, std::uint64_t> faults;  // by kind

  std::uint64_t fault_count() const;
  Tally& operator+=(const Tally& other);
};

// "redis", "redlock", "file", "http".
std::vector<std::string_view> store_kinds();

// Some seconds of trouble with a store of that kind, decided by the seed. In a process of its own,
// so that the next round begins without threads. One that fails says why.
Tally run_round_apart(std::string_view store, std::uint64_t seed);

}  // namespace holdfast::faults
