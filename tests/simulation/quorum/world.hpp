// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "client/core.hpp"
#include "history/check.hpp"
#include "simulation/quorum/check.hpp"
#include "simulation/quorum/network.hpp"
#include "simulation/turns.hpp"

#include <memory>
#include <vector>

namespace holdfast::simulation::quorum {

class Worker;

// One process with the production client and the production quorum store in it.
struct Client {
  history::ProcessId id = 0;
  std::shared_ptr<Process> process;
  std::vector<std::shared_ptr<Line>> lines;
  std::shared_ptr<client::Core> core;
  std::vector<std::unique_ptr<Worker>> workers;

  bool is_gone() const { return lines.front()->is_gone(); }
};

// A small world with some members that know nothing of each other, some clients and a network, all
// in one thread and in its own time. One seed is one history.
class World {
 public:
  World(std::uint64_t seed, Hole hole);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void run();
  // What was found besides the history: what was left behind, and who was never served.
  std::vector<history::Violation> violations;
  Promises promises() const;

  Time now() const { return now_; }
  const Plan& plan() const { return plan_; }
  Dice& dice() { return dice_; }
  Recorder& recorder() { return recorder_; }
  // No more faults; then: nobody begins anything new.
  bool is_calm() const { return calm_; }
  bool is_ending() const { return ending_; }

  OpId asked(const Attempt& attempt, const OwnerId& owner);
  // Of an attempt that failed or was released.
  void ended(OpId op) { over_[op - 1] = true; }
  // A lease that was being renewed, and was never upgraded: that may be exclusive on fewer members
  // than have it.
  void lost(OpId op);
  // An operator ends the leases on a lock: when it asks, and when it is answered, with the fence.
  void forced(history::ProcessId process, std::size_t lock, Fence fence);

 private:
  void start_client();
  bool turn(Time limit);
  void run_until(Time end);
  void trouble();
  void trouble_a_client();
  void trouble_a_member();
  void restart(std::size_t member);
  void forget(std::size_t member);
  void roll(std::size_t member, Time every);
  void calm_down();
  void come_to_an_end();
  bool hang_up_and_drain();

  std::vector<std::size_t> members_with(OpId op) const;
  // The longest time until everything that went wrong has passed.
  Time patience() const;
  bool is_each_lock_served_since(Time since) const;
  void check_promptly_given_back(const std::vector<bool>& over);
  void check_nothing_left();
  void broken(history::Rule rule, std::string why);
  bool everybody_is_done() const;

  Time now_ = 0;
  Dice dice_;
  const Hole hole_;
  Plan plan_;
  Recorder recorder_;
  Network network_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<Runnable<Client>> alive_;
  std::vector<bool> over_;          // by attempt
  std::vector<OpId> asked_before_;  // by lock: the last attempt that may have been ended by force
  Time rolled_until_ = 0;
  Time first_step_ = history::for_ever;
  Time stepped_back_ = 0;
  bool calm_ = false;
  bool ending_ = false;
};

}  // namespace holdfast::simulation::quorum
