// SPDX-License-Identifier: Apache-2.0
//
// What happened lately to each lock: its newest events, and how long it was waited for and held.
#pragma once

#include "server/events/event.hpp"
#include "server/metrics/instruments.hpp"

#include <cstddef>
#include <list>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace holdfast::server {

// Of one lock, and of all of them together. When these are full, the locks go to which nothing has
// happened for the longest time.
inline constexpr std::size_t max_timeline_events = 200;
inline constexpr std::size_t max_all_timeline_events = 50'000;

struct Timeline {
  std::vector<SharedEvent> events;  // the oldest first
  bool truncated = false;           // there were older ones
  Counts waits;
  Counts holds;
};

// From any thread.
class Timelines {
 public:
  explicit Timelines(std::size_t max_each = max_timeline_events,
                     std::size_t max_all = max_all_timeline_events)
      : max_each_(max_each), max_all_(max_all) {}

  void add(const SharedEvent& event);
  // Empty for a name of which nothing is known.
  Timeline of(std::string_view name) const;

 private:
  struct Entry {
    std::string name;
    std::vector<SharedEvent> ring;  // a ring once it is full
    std::size_t oldest = 0;
    bool truncated = false;
    Counts waits;
    Counts holds;
  };
  using Entries = std::list<Entry>;

  Entry& entry(std::string_view name);   // with mutex_ held
  void forget_others(const Entry& but);  // the same

  const std::size_t max_each_;
  const std::size_t max_all_;
  mutable std::mutex mutex_;  // what follows
  std::size_t count_ = 0;     // events in all rings
  Entries entries_;           // whoever had an event last comes first
  std::unordered_map<std::string_view, Entries::iterator> by_name_;  // views into entries_
};

}  // namespace holdfast::server
