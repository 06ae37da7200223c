// SPDX-License-Identifier: Apache-2.0
//
// Taking a lock that the server itself holds while it works.
#pragma once

#include "client/held_lease.hpp"
#include "server/locks/take.hpp"
#include "server/locks/waiting_room.hpp"

#include <expected>
#include <memory>
#include <stop_token>

namespace holdfast::server::patterns {

using LeasePtr = std::shared_ptr<client::HeldLease>;
struct Held {
  LeasePtr lease;
  std::uint32_t attempts = 1;  // more than one where the store says so
};

using Taking = std::expected<Held, NotTaken>;

struct LeaseWanted {
  std::shared_ptr<Core> core;
  client::Wanted wanted;  // its request is chosen anew
  client::Terms terms;
  std::shared_ptr<Wait> wait;  // null: does not wait
  std::stop_token stop;
};

// A refusal says when the lock may be free, also after a wait that took too long. Errors beside
// those of an acquire: deadlock, if the wait was ended to break one.
Task<Taking> take_lease(LeaseWanted order);

// The last one first. False if one of them had ended before its release.
Task<bool> release_all(std::vector<LeasePtr> leases);

}  // namespace holdfast::server::patterns
