// SPDX-License-Identifier: Apache-2.0
#include "server/events/holders.hpp"

#include <algorithm>

namespace holdfast::server {
namespace {

// By fence, each once.
std::vector<const HolderView*> sorted(const std::vector<HolderView>& holders) {
  std::vector<const HolderView*> all;
  all.reserve(holders.size());
  for (const auto& holder : holders) all.push_back(&holder);
  std::ranges::sort(all, [](const HolderView* a, const HolderView* b) {
    return a->fence != b->fence ? a->fence < b->fence : a->remaining > b->remaining;
  });
  const auto rest = std::ranges::unique(all, {}, &HolderView::fence);
  all.erase(rest.begin(), rest.end());
  return all;
}

}  // namespace

HolderChanges match_holders(const std::vector<HolderView>& before,
                            const std::vector<HolderView>& after) {
  HolderChanges changes;
  const auto was = sorted(before);
  const auto is = sorted(after);
  auto old = was.begin();
  for (const auto* holder : is) {
    while (old != was.end() && (*old)->fence < holder->fence) changes.gone.push_back(*old++);
    if (old != was.end() && (*old)->fence == holder->fence) {
      changes.stayed.emplace_back(*old++, holder);
    } else {
      changes.came.push_back(holder);
    }
  }
  changes.gone.insert(changes.gone.end(), old, was.end());
  return changes;
}

}  // namespace holdfast::server
