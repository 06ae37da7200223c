// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/step.hpp"
#include "simulation/recorder.hpp"
#include "store/store.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace holdfast::simulation {

// Whether a message to a process would go out, as far as the server knows.
class Subscribers {
 public:
  virtual ~Subscribers() = default;
  virtual bool hears(model::ProcessId process) const = 0;
};

// The store of the simulated world: the production step over plain memory, with a clock that may
// run too fast, be set, and a memory that may be lost.
class Server {
 public:
  Server(const Time& now, const Plan& plan, Recorder& recorder, const Subscribers& subscribers);

  // One command that was sent at `sent`. What is to be told to waiters is added to `messages`.
  Result<store::Reply> apply(const store::Request& request, Time sent);
  // An operator ends all leases on a lock and tells the protected resource. Returns the fence.
  Fence force(std::size_t lock);
  std::vector<model::Message> messages;

  void forget_everything();
  void keep_copy();
  bool has_copy() const { return copy_.has_value(); }
  void return_to_copy();
  void step_clock(Time by);

  std::size_t lock_named(const LockName& name) const;

 private:
  struct Copy {
    std::vector<model::LockState> locks;
    Fence fence = 0;
  };
  struct Held {
    OwnerId owner;
    model::RequestId request{};
  };

  model::StoreTime clock() const;
  Time when(model::StoreTime time) const;
  model::LockOutcome step(std::size_t lock, const model::LockCommand& command);

  void note_before(const model::LockState& state);
  void note_freed(const model::LockState& state, const model::LockCommand& command);
  void note_held(const model::LockState& state, const OwnerId& owner, model::RequestId request,
                 Time sent);
  void note_outcome(std::size_t lock, const model::LockCommand& command,
                    const model::LockOutcome& outcome, Time sent);

  const Time& now_;
  const Plan& plan_;
  Recorder& recorder_;
  const Subscribers& subscribers_;
  std::int64_t stepped_us_ = 0;
  std::unique_ptr<model::FenceCounter> fences_;
  std::vector<model::LockState> locks_;
  std::vector<Fence> last_of_name_;  // of a bug only
  std::optional<Copy> copy_;
  std::vector<Held> held_before_;
  std::vector<std::pair<std::ptrdiff_t, Event>> held_now_;  // with its position among the holds
  struct Grant {
    Fence fence = 0;
    model::StoreTime since{};
  };
  std::vector<Grant> last_grant_;  // by attempt
};

}  // namespace holdfast::simulation
