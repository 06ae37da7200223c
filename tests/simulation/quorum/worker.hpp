// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "client/acquire.hpp"
#include "client/held_lease.hpp"
#include "simulation/quorum/world.hpp"
#include "simulation/sleeper.hpp"

#include <memory>
#include <optional>
#include <stop_token>

namespace holdfast::simulation::quorum {

// A user's thread: takes locks by the production client, keeps them for a while, gives them back,
// and writes down what it was told.
class Worker {
 public:
  Worker(World& world, Client& client)
      : world_(world), client_(client), sleeper_(*client.process) {}

  void start();
  // Writes down what its lease says by now.
  void look_at_lease();
  // It is to come to an end, whatever it waits for.
  void cancel();
  bool is_done() const { return done_; }

 private:
  Task<bool> run();
  Task<bool> acquire();
  Task<std::shared_ptr<client::HeldLease>> take(client::Wanted wish, OpId op);
  Task<bool> use();
  Task<bool> enter_again();
  Task<bool> force_release();
  Task<bool> upgrade_for_a_while();
  Task<bool> give_back();

  client::Wanted some_wish();
  client::Terms some_terms(Micros ttl);
  OpId ask(const client::Wanted& wish, OpId outer);
  void maybe_cancel_soon();
  Time how_long();
  void note_granted(OpId op, const client::HeldLease& lease);
  void note_lost(OpId op, bool renews);
  bool is_silent() const { return client_.is_gone(); }
  bool is_over() const { return is_silent() || world_.is_ending(); }

  Sleeper::Nap nap(Time duration) { return sleeper_.nap(duration); }

  World& world_;
  Client& client_;
  Sleeper sleeper_;
  bool done_ = false;
  std::size_t turns_ = 0;  // since all is calm
  std::size_t lock_ = 0;
  std::optional<OwnerId> owner_;
  OpId op_ = 0;
  OpId upgraded_ = 0;  // the attempt that made the lease of op_ exclusive
  bool is_shared_ = false;
  bool was_upgraded_ = false;  // or there was a try
  std::shared_ptr<client::HeldLease> lease_;
  Time believed_until_ = 0;
  std::stop_source stop_;
};

}  // namespace holdfast::simulation::quorum
