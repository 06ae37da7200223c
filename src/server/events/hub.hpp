// SPDX-License-Identifier: Apache-2.0
//
// Brings every event to those who subscribed to it, and keeps the newest for those who come back.
#pragma once

#include "server/events/event.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace holdfast::server {

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
  // Called from the thread that publishes, one at a time and in the order of ids; during a replay
  // from the thread that subscribes. It must neither block nor call this hub, except that it may
  // end its own subscription.
  using Callback = std::function<void(const SharedEvent&)>;

  class Subscription;

  // The hub outlives its subscriptions.
  EventHub(std::size_t kept_events, std::uint64_t first_id);
  EventHub(const EventHub&) = delete;
  EventHub& operator=(const EventHub&) = delete;
  ~EventHub();

  // Gives the event the next id, which it returns. From any thread.
  std::uint64_t publish(Event event);

  // With `after`, the kept events after that id are replayed before this returns, and what is
  // published later follows without a gap or a repetition. An id of `after` that is older than
  // what is kept, or not ours, shows in Subscription::missed.
  [[nodiscard]] Subscription subscribe(EventFilter filter, std::optional<std::uint64_t> after,
                                       Callback callback);

  bool has_subscribers() const { return subscribers_count_.load() > 0; }
  std::size_t subscribers() const { return subscribers_count_.load(); }
  // The newest one given; first_id - 1 before the first event.
  std::uint64_t last_id() const;

 private:
  struct Subscriber {
    EventFilter filter;
    Callback callback;
    bool ended = false;
  };
  using Subscribers = std::map<std::uint64_t, Subscriber>;

  bool missed_something(std::uint64_t after) const;
  void replay(Subscriber& subscriber, std::uint64_t after);
  void deliver(const SharedEvent& event);
  void unsubscribe(std::uint64_t key);

  const std::size_t kept_events_;
  std::atomic<std::size_t> subscribers_count_ = 0;

  // Whose callback may run just now: the only thread that may come here while mutex_ is its own.
  std::atomic<std::thread::id> delivering_{};

  mutable std::mutex mutex_;  // what follows
  std::uint64_t next_id_;
  std::uint64_t forgotten_;  // the newest id that cannot be replayed
  std::deque<SharedEvent> kept_;
  std::uint64_t next_key_ = 1;
  Subscribers subscribers_;
  std::vector<std::uint64_t> ended_;  // from within a callback
};

// Ends with this object; when the destructor has returned, the callback does not run any more.
class EventHub::Subscription {
 public:
  Subscription() = default;
  Subscription(Subscription&& other) noexcept;
  Subscription& operator=(Subscription&& other) noexcept;
  ~Subscription() { end(); }

  void end();
  // Events after the id it wanted to continue from are no longer kept, or were never ours: what it
  // knows is out of date.
  bool missed() const { return missed_; }

 private:
  friend class EventHub;
  Subscription(EventHub* hub, std::uint64_t key, bool missed)
      : hub_(hub), key_(key), missed_(missed) {}

  EventHub* hub_ = nullptr;
  std::uint64_t key_ = 0;
  bool missed_ = false;
};

}  // namespace holdfast::server
