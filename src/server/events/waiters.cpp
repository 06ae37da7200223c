// SPDX-License-Identifier: Apache-2.0
#include "server/events/waiters.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace holdfast::server {
namespace {

// As good a name as there is for somebody without a fence. 0 is everybody of whom nothing is known.
template <typename View>
std::uint64_t identity(const View& view) {
  if (view.party != 0) return view.party;
  if (!view.metadata) return 0;
  std::uint64_t hash = 0;
  const auto mix = [&hash](std::string_view text) {
    hash = hash * 1099511628211U + std::hash<std::string_view>()(text);
  };
  mix(view.metadata->note);
  mix(view.metadata->source);
  if (const auto& process = view.metadata->process) {
    mix(process->host);
    mix(process->program);
    hash = hash * 1099511628211U + static_cast<std::uint64_t>(process->pid);
  }
  return hash;
}

struct Old {
  const WaiterView* waiter;
  bool matched = false;
};

// Those with one identity, those who wait longest first. Thousands may share one, so whoever is
// matched is passed over in one step.
class Group {
 public:
  void add(Old* old) { members_.push_back(old); }

  void sort() {
    std::ranges::stable_sort(members_, std::greater<>(), waited);
    skip_.resize(members_.size());
    std::iota(skip_.begin(), skip_.end(), std::size_t{0});
  }

  const WaiterView* take_longest() { return take(free_from(0)); }

  // Somebody who had waited for `then`, give or take the slack.
  bool take_near(Micros then, Micros slack) {
    const auto begin = std::ranges::lower_bound(members_, then + slack, std::greater<>(), waited);
    const auto at = free_from(static_cast<std::size_t>(begin - members_.begin()));
    if (at == members_.size() || waited(members_[at]) < then - slack) return false;
    return take(at) != nullptr;
  }

 private:
  static Micros waited(const Old* old) { return old->waiter->waiting_for; }

  std::size_t free_from(std::size_t begin) {
    auto end = begin;
    while (end < members_.size() && members_[end]->matched) end = std::max(skip_[end], end + 1);
    while (begin < end) begin = std::max(std::exchange(skip_[begin], end), begin + 1);
    return end;
  }

  const WaiterView* take(std::size_t at) {
    if (at == members_.size()) return nullptr;
    members_[at]->matched = true;
    return members_[at]->waiter;
  }

  std::vector<Old*> members_;
  std::vector<std::size_t> skip_;  // where the next free one is at the earliest
};

class Matching {
 public:
  Matching(const LockView& before, const Between& between) : between_(between) {
    old_.reserve(before.waiters.size());
    for (const auto& waiter : before.waiters) {
      auto& entry = old_.emplace_back(Old{&waiter});
      groups_[identity(waiter)].add(&entry);
    }
    for (auto& [who, group] : groups_) group.sort();
  }

  // Whether this waiter was there at the look before.
  bool knows(const WaiterView& waiter) {
    const auto group = groups_.find(identity(waiter));
    if (group == groups_.end()) return false;
    return group->second.take_near(waiter.waiting_for - between_.elapsed, between_.slack);
  }

  // Whether it must have been there, since it has waited for longer than that.
  bool must_know(const WaiterView& waiter) {
    if (waiter.waiting_for <= between_.elapsed + between_.slack) return false;
    return take_longest(identity(waiter)) != nullptr;
  }

  // Takes the waiter that the new holder was, if it was one. Where one of them cannot be named,
  // it is taken to be whoever was next.
  const WaiterView* serve(const HolderView& holder) {
    const auto who = identity(holder);
    if (const auto* waiter = take_longest(who)) return waiter;
    return who == 0 ? take_head() : take_longest(0);
  }

  std::vector<const WaiterView*> rest() const {
    std::vector<const WaiterView*> left;
    for (const auto& old : old_) {
      if (!old.matched) left.push_back(old.waiter);
    }
    return left;
  }

 private:
  const WaiterView* take_longest(std::uint64_t who) {
    const auto group = groups_.find(who);
    return group != groups_.end() ? group->second.take_longest() : nullptr;
  }

  const WaiterView* take_head() {
    while (head_ < old_.size() && old_[head_].matched) ++head_;
    if (head_ == old_.size()) return nullptr;
    old_[head_].matched = true;
    return old_[head_].waiter;
  }

  const Between& between_;
  std::vector<Old> old_;  // next in line first
  std::size_t head_ = 0;
  std::unordered_map<std::uint64_t, Group> groups_;
};

}  // namespace

WaiterChanges match_waiters(const LockView& before, const LockView& after,
                            const std::vector<const HolderView*>& granted, const Between& between) {
  WaiterChanges changes;
  if (before.waiters.empty() && after.waiters.empty()) {
    changes.served.resize(granted.size());
    return changes;
  }
  Matching matching(before, between);
  std::vector<const WaiterView*> unknown;
  for (const auto& waiter : after.waiters) {
    if (!matching.knows(waiter)) unknown.push_back(&waiter);
  }
  for (const auto* waiter : unknown) {
    if (!matching.must_know(*waiter)) changes.came.push_back(waiter);
  }
  for (const auto* holder : granted) changes.served.push_back(matching.serve(*holder));
  changes.left = matching.rest();
  return changes;
}

}  // namespace holdfast::server
