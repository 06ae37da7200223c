// SPDX-License-Identifier: Apache-2.0
//
// Taking a lock for a caller who is somewhere else: it is granted to the caller's owner, confirmed
// for the whole ttl, and then left to the caller. Nothing of it is kept here.
#pragma once

#include "client/acquire.hpp"
#include "client/held_lease.hpp"

#include <expected>
#include <memory>
#include <stop_token>
#include <vector>

namespace holdfast::client {

struct Taken {
  model::RequestId request{};  // under which it is held
  Fence fence = 0;
  Micros remaining{};          // told by the store's last answer
  Micros waited{};             // from the call to the question that was answered so
  LocalTime valid_until{};     // counted from before that question was sent
  LocalTime asked{};           // when that was
  std::uint32_t attempts = 1;  // questions, where the store wants several
};

struct NotTaken {
  Error error;
  std::vector<HolderView> holders{};  // the first few, where somebody is in the way
  Micros retry_after{};
};

using TakeResult = std::expected<Taken, NotTaken>;

// One question, for a caller who does not want to wait; wanted.wait is zero. Where the store says
// so (Capabilities::retry) it is asked again, unless `stop` fires.
Task<TakeResult> take_at_once(std::shared_ptr<Core> core, Wanted wanted, std::stop_token stop = {});
// The same on a store whose answers come at once (Capabilities::immediate): nothing suspends.
TakeResult take_now(Core& core, const Wanted& wanted);

// Waits up to wanted.wait. When `stop` fires the place in the queue is given up.
Task<TakeResult> take_waiting(std::shared_ptr<Core> core, Wanted wanted, std::stop_token stop);

// As it is held by now.
Wanted held(Wanted wanted, const Taken& taken);

// A handle on what was taken, which renews it until it is detached or released.
std::shared_ptr<HeldLease> keep_renewed(const std::shared_ptr<Core>& core, const Wanted& wanted,
                                        const Taken& taken);

// Gives back what a caller who is gone would have had. If it is shared, a lease stays: whoever asks
// again with the same key may have it already.
void give_back(const std::shared_ptr<Core>& core, const Wanted& wanted);

}  // namespace holdfast::client
