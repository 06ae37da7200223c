// SPDX-License-Identifier: Apache-2.0
#include "numbers.hpp"

#include <iterator>

namespace holdfast::test {

namespace {

std::uint64_t find_or_same(const std::map<std::uint64_t, std::uint64_t>& map, std::uint64_t key) {
  const auto found = map.find(key);
  return found == map.end() ? key : found->second;
}

}  // namespace

bool Numbers::pair(std::uint64_t model, std::uint64_t redis) {
  const auto [at, is_new] = redis_of_.try_emplace(model, redis);
  if (!is_new) return at->second == redis;
  const auto next = std::next(at);
  const bool in_order = (at == redis_of_.begin() || std::prev(at)->second < redis) &&
                        (next == redis_of_.end() || redis < next->second);
  if (in_order) {
    model_of_.emplace(redis, model);
  } else {
    redis_of_.erase(at);
  }
  return in_order;
}

std::uint64_t Numbers::to_redis(std::uint64_t model) const {
  return find_or_same(redis_of_, model);
}

std::uint64_t Numbers::to_model(std::uint64_t redis) const {
  return find_or_same(model_of_, redis);
}

}  // namespace holdfast::test
