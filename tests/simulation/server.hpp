// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/step.hpp"
#include "simulation/recorder.hpp"
#include "store/store.hpp"

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace holdfast::simulation {

// Whether a message to a process would go out, as far as the server knows.
class Subscribers {
 public:
  virtual ~Subscribers() = default;
  virtual bool hears(model::ProcessId process) const = 0;
};

// A message, and the lock that it is about.
struct Told {
  std::size_t lock = 0;
  model::Message message;
};

// What a server knows. Another server, or a later life of the same one, may begin with it.
struct Memory {
  std::vector<model::LockState> locks;
  Fence fence = 0;  // the last that was minted
};

// The store of the simulated world: the production step over plain memory, with a clock that may
// run too fast, be set, and a memory that may be lost.
class Server {
 public:
  Server(const Time& now, const Plan& plan, Recorder& recorder, const Subscribers& subscribers);

  // How the fence of a grant is minted that finds nobody else at the lock. All others are compared
  // with the clock.
  enum class LoneGrant : std::uint8_t { compares_with_the_clock, only_counts };
  // One command that was sent at `sent`. What is to be told to waiters is added to `messages`.
  Result<store::Reply> apply(const store::Request& request, Time sent,
                             LoneGrant lone = LoneGrant::compares_with_the_clock);
  // An operator ends all leases on a lock and tells the protected resource. Returns the fence.
  Fence force(std::size_t lock);
  std::vector<model::Message> messages;
  // Of a bug only: what the last step told of grants that it did not make.
  std::vector<model::Message> unmade;

  const model::LockState& lock(std::size_t number) const { return locks_[number]; }
  Fence last_fence() const { return fences_->last(); }
  Memory memory() const { return {locks_, fences_->last()}; }
  void load(Memory memory);
  // What a replica is told of one step of its primary.
  void follow(std::size_t lock, const model::LockState& state, Fence fence);
  void count_from(Fence fence) { fences_.emplace(fence); }
  // No fence is smaller than what the clock shows, from here on.
  void raise_fences();
  // Mints a fence that belongs to nobody.
  Fence mint() { return fences_->next(wall_us()); }
  void forget_everything() { load({std::vector<model::LockState>(plan_.locks.size()), 0}); }

  model::StoreTime clock() const;
  void step_clock(Time by) {
    stepped_us_ += by / 1000;
    recorder_.clock_went_back = recorder_.clock_went_back || by < 0;
  }
  void change_rate(std::int64_t ppm);

  std::size_t lock_named(const LockName& name) const;

 private:
  struct Held {
    OwnerId owner;
    model::RequestId request{};
    Fence fence = 0;
  };

  std::uint64_t wall_us() const {
    return static_cast<std::uint64_t>(clock().time_since_epoch().count());
  }
  Time when(model::StoreTime time) const;
  model::LockOutcome step(std::size_t lock, const model::LockCommand& command, LoneGrant lone);

  void tell_before(std::size_t lock, model::ProcessId process);
  void note_before(const model::LockState& state);
  void note_freed(const model::LockState& state, const model::LockCommand& command);
  OpId freed_by(const model::Release& release, const Held& held) const;
  void note_held(const model::LockState& state, const OwnerId& owner, model::RequestId request,
                 Time sent);
  void note_outcome(std::size_t lock, const model::LockCommand& command,
                    const model::LockOutcome& outcome, Time sent);

  const Time& now_;
  const Plan& plan_;
  Recorder& recorder_;
  const Subscribers& subscribers_;
  std::int64_t stepped_us_ = 0;
  // Its clock has this rate since then, and had counted so much before.
  std::int64_t rate_ppm_;
  Time rate_since_ = 0;
  std::int64_t counted_us_ = 0;
  std::optional<model::FenceCounter> fences_;
  std::vector<model::LockState> locks_;
  std::vector<Fence> last_of_name_;  // of a bug only
  std::unordered_map<std::string_view, std::size_t> hoarded_;  // by name
  std::vector<Held> held_before_;
  std::vector<std::pair<std::ptrdiff_t, Event>> held_now_;  // with its position among the holds
};

}  // namespace holdfast::simulation
