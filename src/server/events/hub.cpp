// SPDX-License-Identifier: Apache-2.0
#include "server/events/hub.hpp"

#include <algorithm>
#include <cassert>

namespace holdfast::server {
namespace {

// Remembers for as long as callbacks run which thread runs them.
class Delivering {
 public:
  explicit Delivering(std::atomic<std::thread::id>& who) : who_(who) {
    who_.store(std::this_thread::get_id());
  }
  Delivering(const Delivering&) = delete;
  Delivering& operator=(const Delivering&) = delete;
  ~Delivering() { who_.store(std::thread::id()); }

 private:
  std::atomic<std::thread::id>& who_;
};

}  // namespace

bool EventFilter::fits(const Event& event) const {
  if (event.name.empty()) return true;
  return event.name.starts_with(prefix) && (!allowed || allowed(event.name));
}

std::uint64_t first_event_id(WallTime now) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(now.time_since_epoch().count(), 1));
}

EventHub::EventHub(std::size_t kept_events, std::uint64_t first_id)
    : kept_events_(kept_events), next_id_(first_id), forgotten_(first_id - 1) {
  assert(first_id > 0);
}

EventHub::~EventHub() { assert(subscribers_.empty()); }

std::uint64_t EventHub::publish(Event event) {
  // What a callback holds may end other subscriptions as it goes, so it goes without the mutex.
  std::vector<Subscribers::node_type> ended;
  const std::lock_guard lock(mutex_);
  const auto id = next_id_++;
  auto shared = std::make_shared<const PublishedEvent>(id, std::move(event));
  kept_.push_back(shared);
  if (kept_.size() > kept_events_) {
    forgotten_ = kept_.front()->id();
    kept_.pop_front();
  }
  if (!subscribers_.empty()) deliver(shared);
  for (const auto key : std::exchange(ended_, {})) ended.push_back(subscribers_.extract(key));
  return id;
}

void EventHub::deliver(const SharedEvent& event) {
  const Delivering here(delivering_);
  for (auto& [key, subscriber] : subscribers_) {
    if (!subscriber.ended && subscriber.filter.fits(event->event())) subscriber.callback(event);
  }
}

EventHub::Subscription EventHub::subscribe(EventFilter filter, std::optional<std::uint64_t> after,
                                           Callback callback) {
  assert(callback);
  const std::lock_guard lock(mutex_);
  const bool missed = after && missed_something(*after);
  const auto key = next_key_++;
  auto& subscriber =
      subscribers_.emplace(key, Subscriber{std::move(filter), std::move(callback)}).first->second;
  ++subscribers_count_;
  // Under the mutex, so that nothing is published between the last replayed event and the first
  // live one.
  if (after) replay(subscriber, *after);
  return {this, key, missed};
}

bool EventHub::missed_something(std::uint64_t after) const {
  return after < forgotten_ || after >= next_id_;
}

void EventHub::replay(Subscriber& subscriber, std::uint64_t after) {
  const Delivering here(delivering_);
  const auto begin = std::ranges::upper_bound(kept_, after, {}, &PublishedEvent::id);
  for (auto event = begin; event != kept_.end(); ++event) {
    if (subscriber.filter.fits((*event)->event())) subscriber.callback(*event);
  }
}

void EventHub::unsubscribe(std::uint64_t key) {
  --subscribers_count_;
  // From within a callback: this thread has the mutex, and the map is just being walked.
  if (delivering_.load() == std::this_thread::get_id()) {
    subscribers_.at(key).ended = true;
    ended_.push_back(key);
    return;
  }
  Subscribers::node_type ended;
  const std::lock_guard lock(mutex_);
  ended = subscribers_.extract(key);
}

std::uint64_t EventHub::last_id() const {
  const std::lock_guard lock(mutex_);
  return next_id_ - 1;
}

EventHub::Subscription::Subscription(Subscription&& other) noexcept
    : hub_(std::exchange(other.hub_, nullptr)), key_(other.key_), missed_(other.missed_) {}

EventHub::Subscription& EventHub::Subscription::operator=(Subscription&& other) noexcept {
  if (this == &other) return *this;
  end();
  hub_ = std::exchange(other.hub_, nullptr);
  key_ = other.key_;
  missed_ = other.missed_;
  return *this;
}

void EventHub::Subscription::end() {
  if (auto* hub = std::exchange(hub_, nullptr)) hub->unsubscribe(key_);
}

}  // namespace holdfast::server
