// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simulation/line.hpp"
#include "simulation/turns.hpp"

#include <functional>
#include <memory>

namespace holdfast::simulation {

// What surrounds the processes of a world: the store and everything between it and them, with all
// that goes wrong there.
class Environment {
 public:
  Environment(const Time& now, const Plan& plan, Dice& dice, Recorder& recorder)
      : now_(now), plan_(plan), faults_(&plan.faults), dice_(dice), recorder_(recorder) {}
  virtual ~Environment() = default;
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  // What is on its way to a server, and what else happens outside of the processes.
  runtime::TimerHeap outside;
  // Called when an operator has ended all leases on a lock.
  std::function<void(std::size_t lock, Fence fence)> on_forced;

  // Processes are numbered from 1 in the order in which they join.
  virtual std::shared_ptr<Line> join(history::ProcessId number,
                                     std::shared_ptr<Process> process) = 0;
  virtual void trouble_a_process(history::ProcessId process) = 0;
  virtual void trouble_the_store() = 0;
  virtual void crash(history::ProcessId process, Time noticed_after) = 0;
  void stop(history::ProcessId process, Time until);
  // All is well from here on, and what was held up is gone.
  virtual void heal() = 0;
  // For how long the store cannot be relied on yet, although nothing goes wrong any more.
  virtual Time away_for() const = 0;
  // By how much the clock of the store was set back, all in all.
  Time set_back() const { return set_back_; }

 protected:
  virtual Process& process(history::ProcessId number) = 0;
  bool is_healed() const { return faults_ != &plan_.faults; }
  void end_faults();
  void note_clock_step(Time by);

  const Time& now_;
  const Plan& plan_;
  const Faults* faults_;
  Dice& dice_;
  Recorder& recorder_;

 private:
  Time set_back_ = 0;
};

// By the plan: one server, or several of which one is the primary.
std::unique_ptr<Environment> make_environment(const Time& now, const Plan& plan, Dice& dice,
                                              Recorder& recorder);

}  // namespace holdfast::simulation
