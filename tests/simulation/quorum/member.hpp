// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/step.hpp"
#include "simulation/quorum/plan.hpp"
#include "store/store.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace holdfast::simulation::quorum {

// What a server says of itself to whoever connects.
struct Identity {
  std::uint32_t run = 0;  // another one after each restart
  Time up_for_s = 0;      // the difference of two times in whole seconds, as a Redis tells it
  bool keeps_memory = false;
};

// One of the servers that vote: the production step over plain memory, with a clock of its own.
class Member {
 public:
  // `hears` says whether a message to a process would go out, as far as this member knows.
  using Hears = std::function<bool(model::ProcessId)>;
  Member(const Time& now, const Plan& plan, std::size_t number, Hears hears);

  Result<store::Reply> apply(const store::Request& request);
  // What the last step has to tell.
  std::vector<model::Message> messages;

  bool is_up() const { return up_at_ <= now_; }
  Time up_at() const { return up_at_; }
  Identity identity() const;
  void restart(Time up_at, bool forgets);
  void come_up() { up_at_ = std::min(up_at_, now_); }
  void step_clock(Time by) { ahead_ += by; }
  void bend_clock(std::int64_t rate_ppm);

  // As it is now; what has ended is left out.
  std::vector<model::Hold> holds(std::size_t lock) const;
  std::vector<model::Waiter> waiters(std::size_t lock) const;

 private:
  Time ahead() const { return ahead_ + (now_ - bent_at_) / 1'000'000 * rate_ppm_; }
  model::StoreTime clock() const;

  const Time& now_;
  const Plan& plan_;
  const Hears hears_;
  Time ahead_;  // at bent_at_
  Time bent_at_ = 0;
  std::int64_t rate_ppm_;
  Time up_at_;
  std::uint32_t run_ = 1;
  std::unique_ptr<model::FenceCounter> fences_;
  std::vector<model::LockState> locks_;
};

}  // namespace holdfast::simulation::quorum
