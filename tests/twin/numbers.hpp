// SPDX-License-Identifier: Apache-2.0
//
// Both sides count fences and places with a counter of their own, and Redis may waste numbers. So
// they agree if their numbers stand in the same order, and the same number always means the same.
#pragma once

#include <cstdint>
#include <map>

namespace holdfast::test {

class Numbers {
 public:
  // False if this pair contradicts an earlier one.
  bool pair(std::uint64_t model, std::uint64_t redis);

  // What stands for a number of the other side. A number that nobody minted means itself.
  std::uint64_t to_redis(std::uint64_t model) const;
  std::uint64_t to_model(std::uint64_t redis) const;

 private:
  std::map<std::uint64_t, std::uint64_t> redis_of_{{0, 0}};
  std::map<std::uint64_t, std::uint64_t> model_of_{{0, 0}};
};

}  // namespace holdfast::test
