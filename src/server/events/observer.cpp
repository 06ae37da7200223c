// SPDX-License-Identifier: Apache-2.0
#include "server/events/observer.hpp"

#include "runtime/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace holdfast::server {
namespace {

Observed count(const Snapshot& snapshot) {
  Observed counts{.complete = snapshot.complete};
  for (const auto& lock : snapshot.locks) {
    counts.held += lock.holders.empty() ? 0 : 1;
    counts.holders += lock.holders.size();
    counts.waiters += lock.waiters.size();
  }
  return counts;
}

// A renewal may follow another one. A forced release or a loss says more than its trace on the
// store does. Waits of unknown parties cannot be told apart.
bool may_have_been_seen(const Event& event) {
  switch (event.type) {
    case EventType::acquired:
    case EventType::released:
    case EventType::expired: return event.fence.has_value();
    case EventType::queued:
    case EventType::left: return event.party != 0;
    default: return false;
  }
}

}  // namespace

// Something told just after one look shows in the next but one at the latest.
Observer::Observer(EventHub& hub, ObserverOptions options)
    : hub_(hub),
      options_(std::move(options)),
      told_by_server_(2 * options_.max_gap),
      told_as_observed_(options_.max_gap) {}

bool Observer::due(LocalTime now, bool wanted) const {
  if (!wanted && !hub_.has_subscribers()) return false;
  const std::lock_guard lock(mutex_);
  return !last_look_ || now - *last_look_ >= options_.interval;
}

void Observer::look(Snapshot next, LocalTime now, WallTime at) {
  std::unique_lock lock(mutex_);
  const auto elapsed = last_look_ ? now - *last_look_ : std::chrono::nanoseconds::max();
  const auto last = std::exchange(last_, std::nullopt);
  const auto forgets = forgets_;
  // Comparing ten thousand locks takes milliseconds, and whoever publishes must not wait for it.
  lock.unlock();
  std::vector<Event> news;
  if (last && elapsed <= options_.max_gap) {
    news = diff(*last, next, {.elapsed = std::chrono::floor<Micros>(elapsed), .at = at});
  }
  const auto counts = count(next);
  const auto looked_at = next.locks.size();
  lock.lock();
  news = untold(std::move(news), now);
  observed_ = counts;
  const bool warn = !counts.complete && !std::exchange(warned_, true);
  if (forgets == forgets_) last_ = std::move(next);
  last_look_ = now;
  lock.unlock();
  for (auto& event : news) {
    if (options_.on_seen) options_.on_seen(event);
    hub_.publish(std::move(event));
  }
  if (!warn) return;
  runtime::log_warning(fmt::format(
      "the store has more than {} locks: events and gauges tell of no others (max_observed)",
      looked_at));
}

std::vector<Event> Observer::untold(std::vector<Event> events, LocalTime now) {
  std::erase_if(events, [&](const Event& event) { return told_by_server_.take(event, now); });
  for (const auto& event : events) {
    if (may_have_been_seen(event)) told_as_observed_.remember(event, now);
  }
  return events;
}

void Observer::forget() {
  const std::lock_guard lock(mutex_);
  last_.reset();
  ++forgets_;
}

void Observer::publish(Event event, LocalTime now) {
  event.source = EventSource::server;
  {
    const std::lock_guard lock(mutex_);
    // While nobody looks there is nothing to tell twice: the first look compares with nothing.
    const bool looks = last_look_ && now - *last_look_ <= 2 * options_.max_gap;
    if (looks && may_have_been_seen(event) && told_as_observed_.take(event, now)) return;
    if (looks) told_by_server_.remember(event, now);
    // Whoever waited, held and released between two looks is missing from the queue at the second
    // one, and has not left it.
    const bool was_served = event.type == EventType::acquired && event.party != 0;
    if (looks && was_served) {
      told_by_server_.remember({.type = EventType::left, .name = event.name, .party = event.party},
                               now);
    }
  }
  hub_.publish(std::move(event));
}

Observed Observer::observed() const {
  const std::lock_guard lock(mutex_);
  return observed_;
}

}  // namespace holdfast::server
