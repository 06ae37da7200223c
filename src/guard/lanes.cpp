// SPDX-License-Identifier: Apache-2.0
#include "guard/lanes.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::guard {

struct Lanes::Lane {
  struct Waiter {
    Fence fence = 0;
    Called called;
  };

  Shard& shard;
  const std::string* resource = nullptr;  // its key
  // All below is guarded by shard.mutex.
  std::size_t members = 0;
  std::size_t under_way = 0;  // all of them with the fence `newest`
  Fence newest = 0;           // that went
  std::vector<Waiter> waiters;

  // The next in line, with all who have the same fence. Returns whom to call.
  std::vector<Called> admit_next() {
    std::vector<Called> calls;
    if (under_way > 0 || waiters.empty()) return calls;
    newest = std::ranges::min_element(waiters, {}, &Waiter::fence)->fence;
    std::erase_if(waiters, [&](Waiter& each) {
      if (each.fence != newest) return false;
      calls.push_back(std::move(each.called));
      return true;
    });
    under_way = calls.size();
    return calls;
  }
};

Lanes::Lanes() = default;
Lanes::~Lanes() = default;

Lanes::Place Lanes::join(std::string_view resource) {
  Shard& shard = shards_[Hash{}(resource) % shard_count];
  const std::lock_guard lock(shard.mutex);
  auto found = shard.lanes.find(resource);
  if (found == shard.lanes.end()) {
    found = shard.lanes.emplace(std::string(resource), std::make_unique<Lane>(shard)).first;
    found->second->resource = &found->first;
  }
  Lane& lane = *found->second;
  ++lane.members;
  return {this, &lane};
}

std::size_t Lanes::size() const {
  std::size_t all = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    all += shard.lanes.size();
  }
  return all;
}

Lanes::Place::Place(Place&& other) noexcept
    : lanes_(std::exchange(other.lanes_, nullptr)),
      lane_(std::exchange(other.lane_, nullptr)),
      goes_(std::exchange(other.goes_, false)) {}

Lanes::Place& Lanes::Place::operator=(Place&& other) noexcept {
  if (this == &other) return *this;
  leave();
  lanes_ = std::exchange(other.lanes_, nullptr);
  lane_ = std::exchange(other.lane_, nullptr);
  goes_ = std::exchange(other.goes_, false);
  return *this;
}

Lanes::Entry Lanes::Place::enter(Fence fence, Called called) {
  const std::lock_guard lock(lane_->shard.mutex);
  if (fence < lane_->newest) return Entry::too_old;
  goes_ = true;
  if (lane_->under_way > 0 && fence != lane_->newest) {
    lane_->waiters.push_back({fence, std::move(called)});
    return Entry::waits;
  }
  lane_->newest = fence;
  ++lane_->under_way;
  return Entry::goes;
}

Fence Lanes::Place::newest() const {
  const std::lock_guard lock(lane_->shard.mutex);
  return lane_->newest;
}

void Lanes::Place::leave() {
  if (lane_ == nullptr) return;
  Lane& lane = *std::exchange(lane_, nullptr);
  Shard& shard = lane.shard;
  std::vector<Called> calls;
  {
    const std::lock_guard lock(shard.mutex);
    if (goes_) --lane.under_way;
    calls = lane.admit_next();
    if (--lane.members == 0) shard.lanes.erase(shard.lanes.find(*lane.resource));
  }
  for (auto& call : calls) call();
}

}  // namespace holdfast::guard
