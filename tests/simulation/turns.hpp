// SPDX-License-Identifier: Apache-2.0
//
// Whose turn it is in a simulated world: that of a process, or of what happens outside of all of
// them. The worlds share this; each has its own network, servers and faults.
#pragma once

#include "runtime/timer_heap.hpp"
#include "simulation/process.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace holdfast::simulation {

// A moment as the timers outside of the processes know it.
inline runtime::LocalTime outside_time(Time at) {
  return runtime::LocalTime(std::chrono::nanoseconds(at));
}

// A process that can have a turn, and what it belongs to.
template <typename Client>
using Runnable = std::pair<Process*, Client*>;

template <typename Client>
struct Turn {
  Time at = 0;
  Client* client = nullptr;  // none: the next timer of `outside` is due
};

// The earliest turn before `limit`. What happens outside goes first, then whoever joined first.
template <typename Client>
std::optional<Turn<Client>> next_turn(const runtime::TimerHeap& outside,
                                      const std::vector<Runnable<Client>>& runnable, Time limit) {
  Turn<Client> next{.at = limit};
  if (const auto due = outside.next()) {
    next.at = std::min(limit, (*due - outside_time(0)).count());
  }
  const bool is_outside = next.at < limit;
  for (const auto& [process, client] : runnable) {
    const Time due = process->next();
    if (due < next.at) next = {.at = due, .client = client};
  }
  if (!next.client && !is_outside) return std::nullopt;
  return next;
}

// Lets every coroutine come to its end, with nobody to talk to. False if one never does.
template <typename Client>
bool drain(Time& now, const std::vector<std::unique_ptr<Client>>& clients) {
  constexpr unsigned most_turns = 100'000;
  for (unsigned turns = 0; turns < most_turns; ++turns) {
    Process* next = nullptr;
    for (const auto& client : clients) {
      if (client->process->is_idle()) continue;
      if (!next || client->process->next() < next->next()) next = client->process.get();
    }
    if (!next) return true;
    now = std::max(now, next->next());
    next->turn();
  }
  return false;
}

}  // namespace holdfast::simulation
