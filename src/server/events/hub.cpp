// SPDX-License-Identifier: Apache-2.0
#include "server/events/hub.hpp"

#include "server/events/timelines.hpp"

#include <algorithm>
#include <cassert>

namespace holdfast::server {

bool EventFilter::fits(const Event& event) const {
  if (event.name.empty()) return true;
  return event.name.starts_with(prefix) && (!allowed || allowed(event.name));
}

std::uint64_t first_event_id(WallTime now) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(now.time_since_epoch().count(), 1));
}

EventHub::EventHub(std::size_t kept_events, std::uint64_t first_id, Timelines* timelines)
    : kept_events_(kept_events), timelines_(timelines), next_id_(first_id), first_id_(first_id) {
  assert(first_id > 0);
}

EventHub::~EventHub() { assert(subscribers_ == 0); }

std::uint64_t EventHub::publish(Event event) {
  SharedEvent shared;
  bool rings = false;
  {
    const std::lock_guard lock(mutex_);
    shared = std::make_shared<const PublishedEvent>(next_id_++, std::move(event));
    kept_.push_back(shared);
    if (kept_.size() > std::max(kept_events_, min_kept)) kept_.pop_front();
    rings = std::exchange(shall_ring_, false);
  }
  if (timelines_ != nullptr) timelines_->add(shared);
  if (rings && on_news_) on_news_();
  return shared->id();
}

bool EventHub::ring_after(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  if (next_id_ - 1 > id) return false;
  shall_ring_ = true;
  return true;
}

EventHub::Subscription EventHub::subscribe(EventFilter filter, std::optional<std::uint64_t> after) {
  const std::lock_guard lock(mutex_);
  const auto newest = next_id_ - 1;
  if (!after) return {*this, std::move(filter), newest, false};
  if (*after > newest) return {*this, std::move(filter), newest, true};
  const auto published = next_id_ - first_id_;
  const auto oldest = newest - std::min<std::uint64_t>(kept_events_, published);
  return {*this, std::move(filter), std::max(*after, oldest), *after < oldest};
}

std::uint64_t EventHub::last_id() const {
  const std::lock_guard lock(mutex_);
  return next_id_ - 1;
}

EventHub::Subscription::Subscription(EventHub& hub, EventFilter filter, std::uint64_t last,
                                     bool missed)
    : hub_(&hub), filter_(std::move(filter)), last_(last), missed_(missed) {
  ++hub.subscribers_;
}

std::vector<SharedEvent> EventHub::Subscription::take(std::size_t limit) {
  std::vector<SharedEvent> taken;
  {
    const std::lock_guard lock(hub_->mutex_);
    const auto& kept = hub_->kept_;
    if (kept.empty() || kept.back()->id() <= last_) return taken;
    const auto oldest = kept.front()->id();
    if (last_ + 1 < oldest) {
      missed_ = true;
      last_ = oldest - 1;
    }
    const auto begin = kept.begin() + static_cast<std::ptrdiff_t>(last_ + 1 - oldest);
    const auto count = std::min(limit, static_cast<std::size_t>(kept.end() - begin));
    taken.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
    last_ += count;
  }
  // Without the mutex: a filter asks about rights, and whoever publishes must not wait for that.
  std::erase_if(taken, [this](const SharedEvent& each) { return !filter_.fits(each->event()); });
  return taken;
}

bool EventHub::Subscription::has_more() const { return hub_->last_id() > last_; }

EventHub::Subscription::Subscription(Subscription&& other) noexcept
    : hub_(std::exchange(other.hub_, nullptr)),
      filter_(std::move(other.filter_)),
      last_(other.last_),
      missed_(other.missed_) {}

EventHub::Subscription& EventHub::Subscription::operator=(Subscription&& other) noexcept {
  if (this == &other) return *this;
  end();
  hub_ = std::exchange(other.hub_, nullptr);
  filter_ = std::move(other.filter_);
  last_ = other.last_;
  missed_ = other.missed_;
  return *this;
}

void EventHub::Subscription::end() {
  if (auto* hub = std::exchange(hub_, nullptr)) --hub->subscribers_;
}

}  // namespace holdfast::server
