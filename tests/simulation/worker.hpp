// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "client/acquire.hpp"
#include "client/held_lease.hpp"
#include "simulation/sleeper.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

// A user's thread: takes locks by the production client, works under them, gives them back, and
// writes down what it was told.
class Worker {
 public:
  Worker(World& world, Client& client, unsigned number);

  void start();
  // Takes all locks that nobody shares, and keeps them.
  void start_hoarding();
  // Whatever it naps for is over.
  void wake_up() { sleeper_.wake_up(); }
  bool is_done() const { return done_; }

 private:
  struct Held {
    std::size_t lock = 0;
    OpId op = 0;
    OpId upgraded = 0;
    unsigned depth = 1;
    bool exclusive = false;
    std::shared_ptr<client::HeldLease> lease;
    bool is_valid() const { return lease->remaining() > Micros::zero(); }
  };
  struct Ask {
    Attempt attempt;
    client::Wanted wanted;
    client::Terms terms;
    std::stop_token stop;
  };

  Task<bool> run();
  Task<bool> hoard();
  Task<bool> once(std::size_t lock, unsigned depth);
  // Several names: all of them or none, in the order of the names.
  Task<bool> take_all();
  Task<bool> acquire(std::size_t lock, Held& held, Time longest_wait);
  Task<bool> use(Held& held, unsigned depth);
  Task<bool> write(Held& held);
  Task<bool> vary(Held& held, unsigned depth);
  Task<bool> upgrade(Held& held);
  Task<bool> downgrade(Held& held);
  Task<bool> give_back(Held& held);
  // Leaves the lease to whoever adopts it, which happens some time later.
  Task<bool> leave_behind(Held& held);
  // Whether it may be left; what was only claimed is confirmed before.
  Task<bool> prepare_to_leave(Held& held);
  Task<bool> adopt_and_release(Held held);

  Ask ask_for(std::size_t lock, Time longest_wait);
  std::stop_token maybe_cancelled();
  void watch(Held& held);
  Event& note_granted(OpId op, const Held& held);
  void let_go(OpId op);
  bool is_silent() const { return client_.is_gone(); }
  bool is_over() const { return is_silent() || world_.is_calm(); }

  bool lingers() { return !is_over() && world_.dice().one_in(8); }

  Sleeper::Nap nap(Time duration) { return sleeper_.nap(duration); }

  World& world_;
  Client& client_;
  Sleeper sleeper_;
  const OwnerId named_owner_;
  const std::uint32_t named_number_;
  bool done_ = false;
};

}  // namespace holdfast::simulation
