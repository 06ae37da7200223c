// SPDX-License-Identifier: Apache-2.0
#include "server/events/streams.hpp"

#include <fmt/format.h>

#include <utility>

namespace holdfast::server {

using net::http::BodyStream;
using runtime::LocalTime;

namespace {

// More than a server publishes in one interval, unless somebody comes back for what was kept.
constexpr std::size_t max_events_at_once = 1'000;

// Of whoever comes back for many: it should have read the ones before.
constexpr std::chrono::nanoseconds replay_interval = event_interval / 5;

constexpr std::string_view missed_text =
    "event: missed\ndata: {\"reason\":\"events between are no longer kept: list again\"}\n\n";

std::shared_ptr<const std::string> shared_text(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

}  // namespace

// Those who heard everything there is, and wait for the next event.
struct EventStreams::Shared {
  Shared(EventHub& its_hub, std::shared_ptr<runtime::Runtime> its_runtime)
      : hub(its_hub), runtime(std::move(its_runtime)) {}

  EventHub& hub;
  const std::shared_ptr<runtime::Runtime> runtime;
  std::mutex mutex;
  std::vector<std::weak_ptr<Listener>> asleep;        // guarded by mutex
  std::unordered_set<std::shared_ptr<Listener>> all;  // the same

  void wake_all();
};

// One stream. Its work is done on the runtime's thread, one piece after the other.
class EventStreams::Listener : public std::enable_shared_from_this<Listener> {
 public:
  Listener(const std::shared_ptr<Shared>& shared, EventHub::Subscription subscription,
           std::weak_ptr<BodyStream> stream)
      : shared_(shared),
        runtime_(shared->runtime),
        subscription_(std::move(subscription)),
        stream_(std::move(stream)) {}

  void start() {
    send(": events of holdfast\n\n");
    flush();
  }

  // Writes what has gathered; then waits for the next turn.
  void flush() {
    const std::lock_guard lock(mutex_);
    if (is_ended_) return;
    is_asleep_ = false;
    const auto events = subscription_.take(max_events_at_once);
    std::string text;
    if (subscription_.missed()) text = missed_text;
    for (const auto& event : events) text += event->frame();
    if (!text.empty() && !send(std::move(text))) return;
    // They begin together after a silence; they should not go on so.
    const auto after = subscription_.has_more() ? replay_interval : next_delay();
    runtime_->schedule(runtime_->now() + after, [self = shared_from_this()] { self->turn(); });
  }

  void end() {
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
    subscription_.end();
  }

 private:
  std::chrono::nanoseconds next_delay() {
    const std::chrono::nanoseconds whole = event_interval;
    if (std::exchange(has_phase_, true)) return whole;
    const auto part = runtime_->random() % static_cast<std::uint64_t>(whole.count());
    return std::chrono::nanoseconds(static_cast<std::int64_t>(part));
  }

  void turn() {
    {
      const std::lock_guard lock(mutex_);
      if (is_ended_) return;
      if (falls_asleep()) return keep_warm();
    }
    flush();
  }

  // With mutex_ held. It is among those who sleep before it asks to be woken, so that nobody rings
  // for nobody.
  bool falls_asleep() {
    const auto shared = shared_.lock();
    if (!shared) return true;
    const std::lock_guard lock(shared->mutex);
    if (!shared->hub.ring_after(subscription_.last_id())) return false;
    shared->asleep.push_back(weak_from_this());
    is_asleep_ = true;
    has_phase_ = false;
    return true;
  }

  // With mutex_ held.
  void keep_warm() {
    const auto number = ++silence_;
    runtime_->schedule(runtime_->now() + event_heartbeat, [weak = weak_from_this(), number] {
      if (const auto self = weak.lock()) self->beat(number);
    });
  }

  void beat(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    if (is_ended_ || !is_asleep_ || number != silence_) return;
    if (send(": still here\n\n")) keep_warm();
  }

  bool send(std::string text) {
    const auto open = stream_.lock();
    return open && open->write(shared_text(std::move(text)));
  }

  const std::weak_ptr<Shared> shared_;
  const std::shared_ptr<runtime::Runtime> runtime_;

  std::mutex mutex_;  // what follows; before that of Shared and of the hub
  EventHub::Subscription subscription_;
  const std::weak_ptr<BodyStream> stream_;
  bool is_ended_ = false;
  bool is_asleep_ = false;
  bool has_phase_ = false;
  std::uint64_t silence_ = 0;  // counts them, so that a late beat is known
};

void EventStreams::Shared::wake_all() {
  std::vector<std::weak_ptr<Listener>> woken;
  {
    const std::lock_guard lock(mutex);
    woken = std::exchange(asleep, {});
  }
  for (const auto& each : woken) {
    if (const auto listener = each.lock()) listener->flush();
  }
}

EventStreams::EventStreams(EventHub& hub, std::shared_ptr<runtime::Runtime> runtime)
    : shared_(std::make_shared<Shared>(hub, std::move(runtime))) {
  hub.on_news([weak = std::weak_ptr(shared_)] {
    const auto shared = weak.lock();
    if (!shared) return;
    shared->runtime->post([shared] { shared->wake_all(); });
  });
}

EventStreams::~EventStreams() {
  std::unordered_set<std::shared_ptr<Listener>> all;
  {
    const std::lock_guard lock(shared_->mutex);
    all = std::exchange(shared_->all, {});
  }
  for (const auto& listener : all) listener->end();
}

void EventStreams::add(EventHub::Subscription subscription, std::shared_ptr<BodyStream> stream) {
  auto listener = std::make_shared<Listener>(shared_, std::move(subscription), stream);
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->all.insert(listener);
  }
  stream->on_closed([weak = std::weak_ptr(shared_), listener] {
    listener->end();
    const auto shared = weak.lock();
    if (!shared) return;
    const std::lock_guard lock(shared->mutex);
    shared->all.erase(listener);
  });
  listener->start();
}

}  // namespace holdfast::server
