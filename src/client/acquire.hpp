// SPDX-License-Identifier: Apache-2.0
//
// The client's half of the protocol: ask, wait, be told, give up cleanly. Written once for every
// kind and every store.
#pragma once

#include "client/core.hpp"
#include "client/validity.hpp"
#include "runtime/backoff.hpp"

#include <functional>
#include <stop_token>

namespace holdfast::client {

struct Wanted {
  LockName name;
  model::LockSpec spec;
  OwnerId owner;
  model::RequestId request{};
  model::RequestId converts{};  // the lease to upgrade, if any
  Fence known = 0;              // its fence
  std::uint32_t permits = all_permits;
  Micros ttl{};
  Micros wait{};
  bool retry = false;  // ask again and again instead of queueing
  // Somebody may ask the same elsewhere and be granted it: what is given up is the place in the
  // queue and a claim that nobody confirmed, never a lease.
  bool is_shared = false;
  model::MetadataPtr metadata;
  // Called once, when it has to stand in line. Must not block or call back.
  std::function<void()> on_queued{};
};

struct Won {
  model::RequestId request{};  // under which it is held
  Fence fence = 0;
  LocalTime valid_until{};
  // When the question was sent that was answered so; of a claim, when its message came.
  LocalTime asked{};
  // Set when the lock came by a message: a claim that the first renewal must turn into a full
  // lease, well before this long has passed.
  std::optional<Micros> claim;
  // Of a wait: kept as long as the lease. The message of the hand-over may come after the lease was
  // had by a question, and a message that nobody hears has its grant given back.
  std::shared_ptr<store::Listening> ear;
};

// However it ends, the store is left with the lock granted to the caller, or with nothing of it
// (at the latest when the ttl ends, if the store cannot be reached). A wait that ends while the
// store is away ends with the failure, never with timed_out: nobody can say that the lock is held.
Task<Result<Won>> acquire(std::shared_ptr<Core> core, Wanted wanted, std::stop_token stop);

// Between two questions to a store that did not answer the first.
inline constexpr runtime::Backoff after_errors{.first = std::chrono::milliseconds(10),
                                               .cap = std::chrono::seconds(1)};

// Takes back whatever this request has in the store: first promptly, then in the background for as
// long as the ttl. The error is that of the prompt try.
Task<Result<void>> withdraw(std::shared_ptr<Core> core, LockName name, model::Release what,
                            Micros ttl);

}  // namespace holdfast::client
