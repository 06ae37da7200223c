// SPDX-License-Identifier: Apache-2.0
//
// Tells of what other processes do with the locks of the store, by looking at all of them again
// and again. What goes through this server is told directly, at once and with who asked for it.
#pragma once

#include "server/events/diff.hpp"
#include "server/events/hub.hpp"
#include "server/events/told.hpp"

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>

namespace holdfast::server {

struct ObserverOptions {
  std::chrono::nanoseconds interval = std::chrono::seconds(1);
  // Two looks further apart than this are not compared: too much may have come and gone, and what
  // this server told itself in between is forgotten. At least a few intervals.
  std::chrono::nanoseconds max_gap = std::chrono::seconds(5);
  // Told of everything that was seen and not told by this server itself; may be null.
  std::function<void(const Event&)> on_seen{};
};

// For gauges. Of an incomplete look these are lower bounds.
struct Observed {
  std::size_t held = 0;  // locks with at least one holder
  std::size_t holders = 0;
  std::size_t waiters = 0;
  bool complete = true;
};

class Observer {
 public:
  // The hub outlives the observer.
  explicit Observer(EventHub& hub, ObserverOptions options = {});

  // Whether it is time for the next look. Nobody looks while nobody listens, unless the look is
  // `wanted` for something else: gauges, deadlocks.
  bool due(LocalTime now, bool wanted = false) const;

  // Takes a look that was begun at `now`, and publishes what it shows. The first one shows
  // nothing, and so does one that comes too late after the one before. One at a time.
  void look(Snapshot next, LocalTime now, WallTime at);

  // What was seen is no longer worth comparing with: the store was changed or could not be read.
  void forget();

  // Publishes what went through this server, unless it was seen on the store a moment ago and told
  // already. From any thread.
  void publish(Event event, LocalTime now);

  Observed observed() const;

 private:
  std::vector<Event> untold(std::vector<Event> events, LocalTime now);

  EventHub& hub_;
  const ObserverOptions options_;

  mutable std::mutex mutex_;  // what follows
  std::optional<Snapshot> last_;
  std::optional<LocalTime> last_look_;
  std::uint64_t forgets_ = 0;
  Observed observed_;
  bool warned_ = false;
  Told told_by_server_;
  Told told_as_observed_;
};

}  // namespace holdfast::server
