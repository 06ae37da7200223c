// SPDX-License-Identifier: Apache-2.0
#include "server/events/timelines.hpp"

#include <algorithm>

namespace holdfast::server {

Timelines::Entry& Timelines::entry(std::string_view name) {
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    return entries_.front();
  }
  auto& fresh = entries_.emplace_front();
  fresh.name = name;
  by_name_.emplace(fresh.name, entries_.begin());
  return fresh;
}

void Timelines::forget_others(const Entry& but) {
  while (count_ > max_all_ && &entries_.back() != &but) {
    count_ -= entries_.back().ring.size();
    by_name_.erase(entries_.back().name);
    entries_.pop_back();
  }
}

void Timelines::add(const SharedEvent& event) {
  const auto& about = event->event();
  if (about.name.empty()) return;
  const std::lock_guard lock(mutex_);
  auto& mine = entry(about.name);
  if (about.waited) mine.waits.add(*about.waited);
  if (about.held) mine.holds.add(*about.held);
  if (mine.ring.size() < max_each_) {
    mine.ring.push_back(event);
    ++count_;
    return forget_others(mine);
  }
  mine.truncated = true;
  mine.ring[mine.oldest] = event;
  mine.oldest = (mine.oldest + 1) % max_each_;
}

Timeline Timelines::of(std::string_view name) const {
  Timeline timeline;
  {
    const std::lock_guard lock(mutex_);
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return timeline;
    const auto& mine = *found->second;
    timeline = {mine.ring, mine.truncated, mine.waits, mine.holds};
  }
  // Two threads may have told of theirs in another order than that of the ids.
  std::ranges::sort(timeline.events, {}, &PublishedEvent::id);
  return timeline;
}

}  // namespace holdfast::server
