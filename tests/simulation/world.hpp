// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "client/core.hpp"
#include "simulation/environment.hpp"
#include "simulation/turns.hpp"

#include <memory>
#include <vector>

namespace holdfast::simulation {

class Worker;

// What the locks protect. It refuses whoever comes with an older fence than it has seen.
struct Resource {
  std::int64_t value = 0;
  Fence newest = 0;

  bool admits(Fence fence) {
    if (fence < newest) return false;
    newest = fence;
    return true;
  }
};

// One process with the production client in it.
struct Client {
  history::ProcessId id = 0;
  std::shared_ptr<Process> process;
  std::shared_ptr<Line> line;
  std::shared_ptr<client::Core> core;
  std::vector<std::unique_ptr<Worker>> workers;

  bool is_gone() const { return line->is_gone(); }
};

// A small world with a store, some processes and a network, all in one thread and in its own time.
// One seed is one history.
class World {
 public:
  World(std::uint64_t seed, StoreKind kind);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Runs the whole history. False if a client went on for ever after its end.
  bool run();

  Time now() const { return now_; }
  const Plan& plan() const { return plan_; }
  Dice& dice() { return dice_; }
  Recorder& recorder() { return recorder_; }
  Resource& resource(std::size_t lock) { return resources_[lock]; }
  bool is_calm() const { return calm_; }

 private:
  void start_process();
  bool turn(Time limit);
  void trouble();
  void trouble_a_client();
  void calm_down();
  // In some seeds one process does not wake up when all else is well.
  void leave_one_stopped(Time until);
  bool everybody_is_done() const;
  bool come_to_an_end();
  Client* somebody();

  Time now_ = 0;
  Dice dice_;
  Plan plan_;
  Recorder recorder_;
  std::unique_ptr<Environment> environment_;
  std::vector<Resource> resources_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<Runnable<Client>> alive_;
  bool calm_ = false;
  Dice sleepers_;  // apart from the others, whose answers stay as they were
  Client* asleep_ = nullptr;
};

}  // namespace holdfast::simulation
