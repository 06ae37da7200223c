// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/contention.hpp"

#include <algorithm>

namespace holdfast::server {

namespace {
std::uint64_t weight(const ContendedName& name) { return name.refused + name.waited; }
}  // namespace

ContendedName& Contention::entry(std::string_view name) {
  const auto found = names_.find(name);
  if (found != names_.end()) return found->second;
  if (names_.size() >= max_contended_names) {
    // Half of it goes at once, so that the search for the least is rare.
    std::vector<std::uint64_t> weights;
    weights.reserve(names_.size());
    for (const auto& [_, each] : names_) weights.push_back(weight(each));
    const auto middle = weights.begin() + static_cast<std::ptrdiff_t>(weights.size() / 2);
    std::ranges::nth_element(weights, middle);
    std::size_t to_go = names_.size() / 2;
    std::erase_if(names_, [&, bound = *middle](const auto& each) {
      return to_go > 0 && weight(each.second) <= bound && to_go-- > 0;
    });
  }
  auto& fresh = names_[std::string(name)];
  fresh.name = name;
  return fresh;
}

void Contention::refused(std::string_view name) {
  const std::lock_guard lock(mutex_);
  ++entry(name).refused;
}

void Contention::waited(std::string_view name, std::chrono::microseconds time) {
  const std::lock_guard lock(mutex_);
  auto& mine = entry(name);
  ++mine.waited;
  mine.waited_for += time;
  mine.longest = std::max(mine.longest, time);
}

std::vector<ContendedName> Contention::top(std::size_t count, RankedBy rank) const {
  std::vector<ContendedName> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [_, each] : names_) all.push_back(each);
  }
  const auto comes_before = [rank](const ContendedName& a, const ContendedName& b) {
    if (rank == RankedBy::time && a.waited_for != b.waited_for) return a.waited_for > b.waited_for;
    return weight(a) > weight(b);
  };
  std::ranges::sort(all, comes_before);
  if (all.size() > count) all.resize(count);
  return all;
}

}  // namespace holdfast::server
