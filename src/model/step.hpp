// SPDX-License-Identifier: Apache-2.0
//
// The definition of every lock Holdfast has. Pure: no clock, no I/O, no threads. Stores run it
// inside a transaction of theirs; the script that runs inside a remote store is checked against it.
#pragma once

#include "model/command.hpp"
#include "model/fence_counter.hpp"

#include <vector>

namespace holdfast::model {

// What a step takes from outside, as input, so that every implementation can be driven alike.
class World {
 public:
  World(StoreTime now, std::uint64_t wall_us, FenceCounter& fences)
      : now_(now), wall_us_(wall_us), fences_(fences) {}
  virtual ~World() = default;

  StoreTime now() const { return now_; }
  // Fences and places come from one counter: both only grow, and nothing is left behind per name.
  Fence mint() { return fences_.next(wall_us_); }
  bool minted_before(std::uint64_t number) const { return number <= fences_.last(); }
  bool raise_fences_to(Fence fence) { return fences_.raise_to(fence); }
  // Whether a message to this process would reach anybody. Asked only about waiters at the head.
  virtual bool reachable(ProcessId process) = 0;

  // Messages to send once the step is committed.
  std::vector<Message> messages;

 protected:
  World(const World&) = default;

 private:
  StoreTime now_;
  std::uint64_t wall_us_;
  FenceCounter& fences_;
};

// The command must have passed `admissible` (admission.hpp).
LockOutcome step(LockState& state, const LockCommand& command, World& world);

// The state as an observer may see it, leases that ended at `now` left out.
LockView view(std::string_view name, const LockState& state, StoreTime now);

// Whether nothing is left at `now` that a later step would need: such a state may be forgotten.
bool forgettable(const LockState& state, StoreTime now);

}  // namespace holdfast::model
