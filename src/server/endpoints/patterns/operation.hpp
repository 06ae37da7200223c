// SPDX-License-Identifier: Apache-2.0
//
// The work that is done under a lock: time passes, or an upstream is called. It ends early when the
// lock is no longer ours, when the client leaves, and when the server ends.
#pragma once

#include "server/endpoints/patterns/order.hpp"
#include "server/http/answer.hpp"

#include <algorithm>
#include <optional>
#include <stop_token>

namespace holdfast::server::patterns {

using runtime::LocalTime;

// Until when the work may go on.
struct Leash {
  std::stop_token lost;                    // the lease is gone
  std::stop_token stop;                    // nobody waits for the answer, or the server drains
  LocalTime ends = LocalTime::max();       // of a lease that nobody watches
  LocalTime answer_by = LocalTime::max();  // for an upstream
};

struct Outcome {
  enum class End : std::uint8_t { done, lost, stopped };
  End end = End::done;
  Effect effect = Effect::none;
  Micros took{};
  std::optional<Response> answer{};  // of an upstream, or why it has none
};

// What the work is told about the lock it runs under.
struct Ticket {
  std::string resource;
  Fence fence = 0;
};

// An upstream must have answered this long before a lease ends, so that what it did is known while
// the lock is still ours. More than the lost_margin of a lease, which would come first.
inline Micros answer_margin(Micros left) {
  return std::min<Micros>(std::chrono::milliseconds(200), left / 4);
}

Task<Outcome> perform(Services& services, Operation operation, Ticket ticket, Leash leash);

}  // namespace holdfast::server::patterns
