// SPDX-License-Identifier: Apache-2.0
#include "server/events/told.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace holdfast::server {
namespace {

bool is_end(EventType type) {
  return type == EventType::released || type == EventType::expired || type == EventType::lost ||
         type == EventType::forced;
}

// Of a wait it is the party that tells it from others; of a lease the fence tells everything.
std::string key_of(const Event& event) {
  const auto word = is_end(event.type) ? "ended" : text::to_word(event.type);
  return fmt::format("{} {:x} {}", word, event.fence ? *event.fence : event.party, event.name);
}

std::string force_key_of(const Event& event) { return "forced " + event.name; }

}  // namespace

void Told::remember(const Event& event, LocalTime now) {
  forget_old(now);
  if (event.type == EventType::forced) {
    add(force_key_of(event), event.fence.value_or(std::numeric_limits<Fence>::max()), now);
  } else {
    add(key_of(event), 0, now);
  }
}

bool Told::take(const Event& event, LocalTime now) {
  forget_old(now);
  if (is_end(event.type)) {
    const auto forced = times_.find(force_key_of(event));
    if (forced != times_.end() && event.fence.value_or(0) <= forced->second.up_to) return true;
  }
  const auto found = times_.find(key_of(event));
  if (found == times_.end()) return false;
  // A fence is never given again: whatever is told of it once more is the same thing.
  if (event.fence) return true;
  if (found->second.open == 0) return false;
  --found->second.open;
  ++found->second.taken;
  return true;
}

void Told::add(std::string key, Fence up_to, LocalTime now) {
  if (limit_ == 0) return;
  if (order_.size() == limit_) forget_first();
  auto& times = times_[key];
  ++times.open;
  times.up_to = std::max(times.up_to, up_to);
  order_.push_back({std::move(key), now + keep_});
}

void Told::forget_old(LocalTime now) {
  while (!order_.empty() && order_.front().until <= now) forget_first();
}

void Told::forget_first() {
  const auto found = times_.find(order_.front().key);
  auto& times = found->second;
  --(times.taken > 0 ? times.taken : times.open);
  if (times.open == 0 && times.taken == 0) times_.erase(found);
  order_.pop_front();
}

}  // namespace holdfast::server
