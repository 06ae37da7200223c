// SPDX-License-Identifier: Apache-2.0
#include "simulation/quorum/member.hpp"

#include "model/admission.hpp"
#include "simulation/step_world.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::simulation::quorum {

namespace {

using model::StoreTime;

}  // namespace

Member::Member(const Time& now, const Plan& plan, std::size_t number, Hears hears)
    : now_(now),
      plan_(plan),
      hears_(std::move(hears)),
      ahead_(plan.clocks[number].ahead),
      rate_ppm_(plan.clocks[number].rate_ppm),
      up_at_(-3600 * second),
      fences_(std::make_unique<model::FenceCounter>()),
      locks_(plan.names.size()) {}

StoreTime Member::clock() const {
  return StoreTime(Micros((epoch_us * microsecond + now_ + ahead()) / microsecond));
}

void Member::bend_clock(std::int64_t rate_ppm) {
  ahead_ = ahead();
  bent_at_ = now_;
  rate_ppm_ = rate_ppm;
}

Result<store::Reply> Member::apply(const store::Request& request) {
  messages.clear();
  const auto& command = std::get<model::LockCommand>(request.command);
  if (auto allowed = model::admissible(command); !allowed) {
    return std::unexpected(std::move(allowed.error()));
  }
  const auto lock = std::ranges::find(plan_.names, request.name) - plan_.names.begin();
  const StoreTime at = clock();
  StepWorld inside(at, static_cast<std::uint64_t>(at.time_since_epoch().count()), *fences_, hears_);
  auto outcome = model::step(locks_[static_cast<std::size_t>(lock)], command, inside);
  messages = std::move(inside.messages);
  return store::Reply{at, std::move(outcome)};
}

Identity Member::identity() const {
  return {.run = run_,
          .up_for_s = now_ / second - up_at_ / second,
          .keeps_memory = plan_.members_keep_memory};
}

void Member::restart(Time up_at, bool forgets) {
  ++run_;
  up_at_ = up_at;
  if (!forgets) return;
  fences_ = std::make_unique<model::FenceCounter>();
  locks_.assign(plan_.names.size(), {});
}

std::vector<model::Hold> Member::holds(std::size_t lock) const {
  std::vector<model::Hold> found;
  for (const model::Hold& hold : locks_[lock].holds) {
    if (hold.expires > clock()) found.push_back(hold);
  }
  return found;
}

std::vector<model::Waiter> Member::waiters(std::size_t lock) const {
  std::vector<model::Waiter> found;
  if (locks_[lock].queue_expires <= clock()) return found;
  for (const auto& [place, waiter] : locks_[lock].queue) found.push_back(waiter);
  return found;
}

}  // namespace holdfast::simulation::quorum
