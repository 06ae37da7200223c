// SPDX-License-Identifier: Apache-2.0
//
// Keeps the newest events for those who listen and for those who come back. Whoever publishes does
// the same work for a thousand listeners as for one: they come and take what is new.
#pragma once

#include "server/events/event.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::server {

class Timelines;

// An event without a name concerns everybody and fits every filter.
struct EventFilter {
  std::string prefix;
  std::function<bool(std::string_view name)> allowed;  // null: every name

  bool fits(const Event& event) const;
};

// Ids of a server that starts now: larger than those of all the servers before it, as long as they
// published less than a million events per second. In microseconds since 1970, so that they stay
// below 2^53 and a browser can compare them.
std::uint64_t first_event_id(WallTime now);

class EventHub {
 public:
  class Subscription;

  // So many are kept for listeners that are only a moment behind, however few are kept for those
  // who come back.
  static constexpr std::size_t min_kept = 4'096;

  // The hub outlives its subscriptions, and the timelines, which may be null, outlive the hub.
  EventHub(std::size_t kept_events, std::uint64_t first_id, Timelines* timelines = nullptr);
  EventHub(const EventHub&) = delete;
  EventHub& operator=(const EventHub&) = delete;
  ~EventHub();

  // Gives the event the next id, which it returns. From any thread.
  std::uint64_t publish(Event event);

  // With `after`, it begins with the kept events after that id; else with the next one. An id that
  // is older than what is kept, or not ours, shows in Subscription::missed.
  [[nodiscard]] Subscription subscribe(EventFilter filter, std::optional<std::uint64_t> after);

  // Called by the first event after each `ring_after`, on the thread that publishes it: it must
  // neither block nor call this hub. Set before the first event.
  void on_news(std::function<void()> callback) { on_news_ = std::move(callback); }
  // Asks for that call. False: there is something after `id` already, and nobody will call.
  bool ring_after(std::uint64_t id);

  bool has_subscribers() const { return subscribers_.load() > 0; }
  std::size_t subscribers() const { return subscribers_.load(); }
  // The newest one given; first_id - 1 before the first event.
  std::uint64_t last_id() const;

 private:
  const std::size_t kept_events_;
  Timelines* const timelines_;
  std::function<void()> on_news_;
  std::atomic<std::size_t> subscribers_ = 0;

  mutable std::mutex mutex_;  // what follows
  std::uint64_t next_id_;
  const std::uint64_t first_id_;
  bool shall_ring_ = false;
  std::deque<SharedEvent> kept_;  // their ids follow each other
};

// A place in the order of events. Not thread-safe.
class EventHub::Subscription {
 public:
  Subscription() = default;
  Subscription(Subscription&& other) noexcept;
  Subscription& operator=(Subscription&& other) noexcept;
  ~Subscription() { end(); }

  void end();
  // What is new and fits, the oldest first. It looks at `limit` events at the most; see has_more.
  std::vector<SharedEvent> take(std::size_t limit);
  bool has_more() const;
  // The newest one that was looked at.
  std::uint64_t last_id() const { return last_; }
  // Events were not kept until they could be taken, or the id it wanted to continue from was never
  // ours: what it knows is out of date. Says so once.
  bool missed() { return std::exchange(missed_, false); }

 private:
  friend class EventHub;
  Subscription(EventHub& hub, EventFilter filter, std::uint64_t last, bool missed);

  EventHub* hub_ = nullptr;
  EventFilter filter_;
  std::uint64_t last_ = 0;
  bool missed_ = false;
};

}  // namespace holdfast::server
