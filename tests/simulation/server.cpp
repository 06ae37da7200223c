// SPDX-License-Identifier: Apache-2.0
#include "simulation/server.hpp"

#include "model/admission.hpp"
#include "model/queue.hpp"
#include "planted.hpp"
#include "simulation/step_world.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::simulation {

namespace {

using model::LockCommand;
using model::LockOutcome;
using model::LockState;
using model::StoreTime;

// A counter below this has never been compared with a clock.
constexpr Fence least_good_fence = 1'000'000'000;

}  // namespace

Server::Server(const Time& now, const Plan& plan, Recorder& recorder,
               const Subscribers& subscribers)
    : now_(now),
      plan_(plan),
      recorder_(recorder),
      subscribers_(subscribers),
      rate_ppm_(plan.store_rate_ppm),
      fences_(std::in_place),
      locks_(plan.locks.size()),
      last_of_name_(plan.locks.size()) {
  for (std::size_t lock = plan.shared_locks; lock < plan.locks.size(); ++lock) {
    hoarded_.emplace(plan.locks[lock].name.str(), lock);
  }
}

StoreTime Server::clock() const {
  const std::int64_t passed_us = (now_ - rate_since_) / 1000 * (1'000'000 + rate_ppm_) / 1'000'000;
  return StoreTime(Micros(epoch_us + stepped_us_ + counted_us_ + passed_us));
}

// Rounded up: a lease ends no earlier than this.
Time Server::when(StoreTime time) const {
  const std::int64_t passed_us =
      time.time_since_epoch().count() - epoch_us - stepped_us_ - counted_us_;
  return rate_since_ + passed_us * 1'000'000 / (1'000'000 + rate_ppm_) * 1000;
}

void Server::change_rate(std::int64_t ppm) {
  counted_us_ = clock().time_since_epoch().count() - epoch_us - stepped_us_;
  rate_since_ = now_;
  rate_ppm_ = ppm;
}

std::size_t Server::lock_named(const LockName& name) const {
  // Those that many share come first; of the others there may be thousands.
  const auto shared = plan_.locks.begin() + static_cast<std::ptrdiff_t>(plan_.shared_locks);
  const auto found = std::find_if(plan_.locks.begin(), shared,
                                  [&](const LockPlan& lock) { return lock.name == name; });
  if (found != shared) return static_cast<std::size_t>(found - plan_.locks.begin());
  const auto hoarded = hoarded_.find(name.str());
  return hoarded == hoarded_.end() ? plan_.locks.size() : hoarded->second;
}

// Whether anybody heard it decides whether it is true.
void Server::tell_before(std::size_t lock, model::ProcessId process) {
  const model::Waiter& head = locks_[lock].queue.begin()->second;
  if (head.process != process || locks_[lock].spec.order == Order::barging) return;
  unmade.push_back({process, head.owner, head.request,
                    model::Grant{mint(), clock(), std::min(head.ttl, head.claim)}});
}

LockOutcome Server::step(std::size_t lock, const LockCommand& command, LoneGrant lone) {
  messages.clear();
  unmade.clear();
  // The bugs of stores that keep a fence per name, or no floor for it.
  const bool per_name = planted::is(planted::Bug::last_fence_forgotten);
  const bool is_alone = lone == LoneGrant::only_counts && fences_->last() > least_good_fence &&
                        model::forgettable(locks_[lock], clock());
  const bool floorless = is_alone || planted::is(planted::Bug::fence_counter_lost_on_restart);
  model::FenceCounter of_name(last_of_name_[lock]);
  const auto hears = [this, lock](model::ProcessId process) {
    const bool is_heard = subscribers_.hears(process);
    if (!is_heard && planted::is(planted::Bug::grant_published_before_it_is_made)) {
      tell_before(lock, process);
    }
    return is_heard;
  };
  StepWorld inside(clock(), floorless ? 0 : wall_us(), per_name ? of_name : *fences_, hears);
  LockOutcome outcome = model::step(locks_[lock], command, inside);
  if (per_name) last_of_name_[lock] = locks_[lock].idle() ? 0 : of_name.last();
  messages = std::move(inside.messages);
  return outcome;
}

Result<store::Reply> Server::apply(const store::Request& request, Time sent, LoneGrant lone) {
  messages.clear();
  const auto& command = std::get<LockCommand>(request.command);
  if (auto allowed = model::admissible(command); !allowed) {
    return std::unexpected(std::move(allowed.error()));
  }
  const std::size_t lock = lock_named(request.name);
  note_before(locks_[lock]);
  LockOutcome outcome = step(lock, command, lone);
  note_outcome(lock, command, outcome, sent);
  return store::Reply{clock(), std::move(outcome)};
}

Fence Server::force(std::size_t lock) {
  note_before(locks_[lock]);
  const LockCommand command{plan_.locks[lock].spec, model::ForceRelease{}};
  const LockOutcome outcome = step(lock, command, LoneGrant::compares_with_the_clock);
  note_outcome(lock, command, outcome, 0);
  const auto* forced = std::get_if<model::Forced>(&outcome);
  return forced ? forced->fence : 0;
}

void Server::note_before(const LockState& state) {
  held_before_.clear();
  for (const model::Hold& hold : state.holds) {
    if (hold.expires > clock()) held_before_.push_back({hold.owner, hold.request, hold.fence});
  }
}

// A release of all that an owner has is meant for the lease of one attempt and whatever is older.
OpId Server::freed_by(const model::Release& release, const Held& held) const {
  if (release.request != model::RequestId::any) return recorder_.op_of(release.request);
  const bool is_bounded = release.up_to != UINT64_MAX;
  if (is_bounded && held.fence <= release.up_to) return recorder_.op_of(held.request);
  return recorder_.op_of_adopted(release.owner, release.up_to);
}

void Server::note_freed(const LockState& state, const LockCommand& command) {
  const auto* release = std::get_if<model::Release>(&command.verb);
  for (const Held& before : held_before_) {
    std::int64_t of_owner = 0;
    bool still_there = false;
    for (const model::Hold& hold : state.holds) {
      if (hold.owner != before.owner) continue;
      // The same step may have served the owner anew.
      const auto was_there = [&hold](const Held& each) {
        return each.request == hold.request && each.owner == hold.owner;
      };
      if (std::ranges::any_of(held_before_, was_there)) ++of_owner;
      still_there = still_there || hold.request == before.request;
    }
    // A release whose own lease is still there has left a part of it behind.
    const bool left_behind = release && still_there && !release->only_unconfirmed &&
                             before.request == release->request && before.owner == release->owner;
    if (still_there && !left_behind) continue;
    Event& event = recorder_.add(What::freed, recorder_.op_of(before.request));
    event.by = release ? freed_by(*release, before) : 0;
    event.number = of_owner;
    // Where fences came again, whoever meant a lease by its fence may end another one. So may a
    // late copy where entries share theirs.
    const bool are_shared = state.spec.kind == Kind::reentrant ||
                            (recorder_.fences_went_back && recorder_.clock_went_back);
    const bool ends_newer = are_shared && release && release->request == model::RequestId::any &&
                            recorder_.op_of_adopted(release->owner, release->up_to) != event.op;
    if (ends_newer) {
      const auto name = recorder_.history.attempt(event.op).name;
      recorder_.fault(What::forced, 0).name = name;
    }
  }
}

void Server::note_held(const LockState& state, const OwnerId& owner, model::RequestId request,
                       Time sent) {
  const OpId op = recorder_.op_of(request);
  const auto hold = std::find_if(state.holds.begin(), state.holds.end(), [&](const auto& each) {
    return each.request == request && each.owner == owner;
  });
  if (op == 0 || hold == state.holds.end()) return;
  const Attempt& attempt = recorder_.history.attempt(op);
  Recorder::StoreGrant& last = recorder_.last_grant(op);
  if (last.since != hold->since) {
    last = {hold->fence, hold->since};
    if (state.spec.kind != Kind::reentrant) recorder_.note_new_fence(hold->fence);
  }
  // A lease that was converted has another fence than its attempt was told; its story is told by
  // the clients alone.
  const bool converted = state.spec.kind == Kind::read_write && last.fence != hold->fence;
  if (converted || hold->permits != attempt.permits) return;
  Event event{.at = now_, .until = when(hold->expires), .since = sent, .fence = hold->fence};
  event.op = op;
  event.what = What::held;
  event.process = attempt.process;
  held_now_.emplace_back(hold - state.holds.begin(), event);
}

void Server::note_outcome(std::size_t lock, const LockCommand& command, const LockOutcome& outcome,
                          Time sent) {
  const LockState& state = locks_[lock];
  note_freed(state, command);
  held_now_.clear();
  const bool granted = std::holds_alternative<model::Granted>(outcome);
  const bool refused = std::holds_alternative<model::Busy>(outcome) ||
                       std::holds_alternative<model::Queued>(outcome);
  if (const auto* renew = std::get_if<model::Renew>(&command.verb); renew && granted) {
    note_held(state, renew->owner, renew->request, sent);
  }
  if (const auto* acquire = std::get_if<model::Acquire>(&command.verb)) {
    if (acquire->converts == model::RequestId::any && granted) {
      note_held(state, acquire->owner, acquire->request, sent);
    }
    const bool own_lease_in_the_way =
        acquire->converts == model::RequestId::any && state.spec.kind != Kind::reentrant &&
        std::any_of(state.holds.begin(), state.holds.end(), [&](const auto& hold) {
          // An owner that comes back may be in the way of its own next attempt.
          const bool is_same = !plan_.has_errands ||
                               recorder_.op_of(hold.request) == recorder_.op_of(acquire->request);
          return hold.owner == acquire->owner && is_same;
        });
    if (refused && own_lease_in_the_way) {
      recorder_.add(What::self_blocked, recorder_.op_of(acquire->request));
    }
  }
  for (const model::Message& message : messages) {
    if (!message.grant) continue;
    ++recorder_.hand_overs;
    note_held(state, message.owner, message.request, 0);
  }
  // One step may serve several; they stand in the order in which they were served.
  std::ranges::sort(held_now_, {},
                    [](const auto& held) { return std::pair(held.first, held.second.since); });
  for (const auto& [position, event] : held_now_) recorder_.history.events.push_back(event);
}

void Server::load(Memory memory) {
  locks_ = std::move(memory.locks);
  count_from(memory.fence);
}

void Server::follow(std::size_t lock, const LockState& state, Fence fence) {
  locks_[lock] = state;
  count_from(fence);
}

void Server::raise_fences() {
  if (fences_->last() < wall_us()) fences_->raise_to(wall_us() + model::limits::fence_headroom_us);
}

}  // namespace holdfast::simulation
