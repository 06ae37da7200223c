// SPDX-License-Identifier: Apache-2.0
//
// An acquire of the API from the order to its result, with everything that has to be written down
// on the way. What the endpoints for one name and for several share.
#pragma once

#include "server/journal.hpp"
#include "server/locks/order.hpp"
#include "server/locks/take.hpp"
#include "server/services.hpp"

#include <stop_token>

namespace holdfast::server {

struct Acquisition {
  Services& services;
  Who who;
  AcquireOrder order;
  std::shared_ptr<Core> core = services.shared_core();  // where the lock is
  std::string shown{};  // what it is called in records, if not as in its store

  std::string_view name() const { return shown.empty() ? order.wanted.name.str() : shown; }
  // The observer looks at one store: of another one's locks it must not hear.
  bool is_observed() const { return core == services.shared_core(); }
};

// Whether the lease of an earlier request with the same key may be less than what is asked for now.
// Then `acquire` looks, and `acquire_now` must not be used.
bool can_be_mistaken(const client::Wanted& wanted);

// On a store that answers at once, without waiting.
TakeResult acquire_now(const Acquisition& acquisition);
// Waits if the order says so. When `stop` fires, nothing is held; while the server drains, that is
// `unavailable`.
Task<TakeResult> acquire(Acquisition acquisition, std::stop_token stop);

}  // namespace holdfast::server
