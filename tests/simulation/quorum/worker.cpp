// SPDX-License-Identifier: Apache-2.0
#include "simulation/quorum/worker.hpp"

#include "runtime/spawn.hpp"
#include "simulation/words.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::simulation::quorum {

namespace {

using history::Detail;

}  // namespace

void Worker::start() {
  client_.process->post([this] { runtime::spawn(run()); });
  client_.process->arrive(world_.now(), [] {});
}

void Worker::cancel() {
  client_.process->arrive(world_.now(), [this] { stop_.request_stop(); });
}

Task<bool> Worker::run() {
  while (!is_over()) {
    co_await nap(world_.is_calm() ? world_.dice().between(50, 500) * millisecond
                                  : world_.dice().mostly_short(300 * millisecond));
    if (is_over()) break;
    const std::size_t locks = world_.plan().names.size();
    // In turn, where each lock is to be asked for.
    lock_ = world_.is_calm() ? turns_++ % locks : world_.dice().below(locks);
    if (!world_.is_calm() && world_.dice().one_in(world_.plan().faults.force)) {
      auto forcing = force_release();
      co_await std::move(forcing);
      continue;
    }
    auto acquiring = acquire();
    if (!co_await std::move(acquiring)) continue;
    auto using_it = use();
    co_await std::move(using_it);
    auto ending = give_back();
    co_await std::move(ending);
  }
  done_ = true;
  co_return true;
}

client::Wanted Worker::some_wish() {
  const Plan& plan = world_.plan();
  const model::LockSpec& spec = plan.specs[lock_];
  Dice& dice = world_.dice();
  const Time ttl =
      plan.shortest_ttl == plan.ttl ? plan.ttl : dice.between(plan.shortest_ttl, plan.ttl);
  const std::size_t patience = dice.below(8);
  const Time wait = patience <= 1 ? 0 : patience == 2 ? dice.mostly_short(plan.ttl) : 6 * plan.ttl;
  return {.name = plan.names[lock_],
          .spec = spec,
          .owner = client_.core->fresh_owner(),
          .request = client_.core->fresh_request(),
          .permits = spec.kind == Kind::read_write && dice.below(3) != 0 ? 1 : spec.capacity,
          .ttl = micros(ttl),
          .wait = micros(wait),
          .retry = dice.one_in(16)};
}

client::Terms Worker::some_terms(Micros ttl) {
  return {.ttl = ttl, .renew = !world_.dice().one_in(3)};
}

void Worker::maybe_cancel_soon() {
  stop_ = {};
  if (world_.is_calm() || !world_.dice().one_in(world_.plan().faults.cancel)) return;
  world_.recorder().harmless_fault();
  const Time after = world_.dice().mostly_short(world_.plan().ttl);
  client_.process->arrive(world_.now() + after, [stop = stop_]() mutable { stop.request_stop(); });
}

// `outer` is the attempt of the same owner that has the lock, if it enters again.
OpId Worker::ask(const client::Wanted& wish, OpId outer) {
  const bool is_shared = wish.spec.kind == Kind::read_write && wish.permits == 1;
  const auto next = static_cast<OpId>(world_.recorder().history.attempts.size() + 1);
  return world_.asked({.name = static_cast<history::NameId>(lock_ + 1),
                       .process = client_.id,
                       .owner = outer != 0 ? outer : next,
                       .permits = is_shared ? 1 : all_permits,
                       .capacity = all_permits,
                       .reentrant = wish.spec.kind == Kind::reentrant,
                       .waits = wish.wait > Micros::zero(),
                       .ttl = wish.ttl.count() * microsecond,
                       .give_up = world_.now() + wish.wait.count() * microsecond},
                      wish.owner);
}

Task<std::shared_ptr<client::HeldLease>> Worker::take(client::Wanted wish, OpId op) {
  client::HeldLease::Identity identity{.name = wish.name,
                                       .spec = wish.spec,
                                       .owner = wish.owner,
                                       .request = wish.request,
                                       .permits = wish.permits};
  const client::Terms terms = some_terms(wish.ttl);
  auto asking = client::acquire(client_.core, std::move(wish), stop_.get_token());
  const Result<client::Won> won = co_await std::move(asking);
  if (!won) {
    world_.ended(op);
    if (!is_silent()) {
      world_.recorder().add(What::failed, op).detail = detail_of(won.error().code);
    }
    co_return nullptr;
  }
  identity.request = won->request;
  auto lease = client::HeldLease::start(client_.core, std::move(identity), terms, *won);
  if (is_silent()) co_return lease;
  note_granted(op, *lease);
  lease->on_lost([this, op, renews = terms.renew](const Error&) { note_lost(op, renews); });
  co_return lease;
}

Task<bool> Worker::acquire() {
  client::Wanted wish = some_wish();
  op_ = ask(wish, 0);
  owner_ = wish.owner;
  was_upgraded_ = false;
  is_shared_ = world_.recorder().history.attempt(op_).permits == 1;
  maybe_cancel_soon();
  auto taking = take(std::move(wish), op_);
  lease_ = co_await std::move(taking);
  if (!lease_) co_return false;
  believed_until_ = world_.now() + std::chrono::nanoseconds(lease_->remaining()).count();
  co_return true;
}

// The same owner once more, and out again before it leaves for good.
Task<bool> Worker::enter_again() {
  client::Wanted wish = some_wish();
  wish.owner = *owner_;
  const OpId op = ask(wish, op_);
  auto taking = take(std::move(wish), op);
  const auto inner = co_await std::move(taking);
  if (!inner) co_return false;
  co_await nap(world_.is_calm() ? millisecond : world_.dice().mostly_short(world_.plan().ttl));
  if (!is_silent()) world_.recorder().add(What::releasing, op);
  auto releasing = inner->release();
  const Result<Released> released = co_await std::move(releasing);
  world_.ended(op);
  if (!is_silent()) world_.recorder().add(What::released, op).detail = detail_of(released);
  co_return true;
}

// What an operator does: looks who has it, and ends just those leases.
Task<bool> Worker::force_release() {
  const Plan& plan = world_.plan();
  const auto ask_store = [&](auto verb) {
    return client_.core->store().apply(
        {.name = plan.names[lock_],
         .command = model::LockCommand{plan.specs[lock_], std::move(verb)},
         .deadline = client_.process->now() + client::command_timeout});
  };
  const auto outcome_of = [](const Result<store::Reply>& reply) {
    return reply ? std::get_if<model::LockOutcome>(&reply->outcome) : nullptr;
  };
  auto looking = ask_store(model::Inspect{});
  const Result<store::Reply> seen = co_await std::move(looking);
  const auto* outcome = outcome_of(seen);
  if (!outcome || is_over()) co_return false;
  model::ForceRelease force{.up_to = 0};
  for (const auto& holder : std::get<model::Seen>(*outcome).lock.holders) {
    force.up_to = std::max(force.up_to, holder.fence);
  }
  if (force.up_to == 0) co_return false;
  world_.forced(client_.id, lock_, 0);
  auto forcing = ask_store(std::move(force));
  const Result<store::Reply> ended = co_await std::move(forcing);
  const auto* answer = outcome_of(ended);
  const auto* forced = answer ? std::get_if<model::Forced>(answer) : nullptr;
  if (is_silent()) co_return false;
  world_.forced(client_.id, lock_, forced ? forced->fence : 0);
  co_return forced != nullptr;
}

void Worker::note_granted(OpId op, const client::HeldLease& lease) {
  ++world_.recorder().grants;
  Event& event = world_.recorder().add(What::granted, op);
  event.fence = lease.fence();
  event.until = world_.now() + std::chrono::nanoseconds(lease.remaining()).count();
}

void Worker::note_lost(OpId op, bool renews) {
  if (is_silent()) return;
  world_.recorder().add(What::lost, op);
  if (op == op_ && upgraded_ != 0) world_.recorder().add(What::lost, upgraded_);
  if (renews && !was_upgraded_) world_.lost(op);
}

void Worker::look_at_lease() {
  if (!lease_ || lease_->remaining() <= Micros::zero()) return;
  const Time until = world_.now() + std::chrono::nanoseconds(lease_->remaining()).count();
  // What is left is told in whole microseconds.
  if (until <= believed_until_ + microsecond) return;
  believed_until_ = until;
  world_.recorder().add(What::renewed, op_).until = until;
  if (upgraded_ != 0) world_.recorder().add(What::renewed, upgraded_).until = until;
}

Time Worker::how_long() {
  Dice& dice = world_.dice();
  if (world_.is_calm()) return dice.between(0, 5 * millisecond);
  switch (dice.below(8)) {
    case 0: return dice.between(0, 2 * world_.plan().ttl);
    case 1:
    case 2: return dice.between(0, world_.plan().ttl);
    default: return dice.between(0, 20 * millisecond);
  }
}

Task<bool> Worker::use() {
  const Time end = world_.now() + how_long();
  while (!is_over() && lease_->remaining() > Micros::zero() && world_.now() < end) {
    co_await nap(std::min(end - world_.now(), world_.dice().between(millisecond, second)));
    const bool enters_again = world_.plan().specs[lock_].kind == Kind::reentrant;
    if (is_over() || (!is_shared_ && !enters_again) || !world_.dice().one_in(2)) continue;
    auto deeper = enters_again ? enter_again() : upgrade_for_a_while();
    co_await std::move(deeper);
  }
  co_return true;
}

Task<bool> Worker::upgrade_for_a_while() {
  Attempt attempt = world_.recorder().history.attempt(op_);
  attempt.permits = all_permits;
  attempt.converts = op_;
  // Of nobody: what the members have is that of the shared lease.
  const OpId op = world_.asked(attempt, client_.core->fresh_owner());
  const Time wait = world_.dice().one_in(2) ? 0 : world_.plan().ttl;
  was_upgraded_ = true;
  auto upgrading = lease_->convert(all_permits, micros(wait), stop_.get_token());
  const Result<void> upgraded = co_await std::move(upgrading);
  world_.ended(op);
  if (is_silent()) co_return false;
  if (!upgraded || lease_->remaining() <= Micros::zero()) {
    const Errc code = upgraded ? Errc::lost : upgraded.error().code;
    world_.recorder().add(What::failed, op).detail = detail_of(code);
    co_return false;
  }
  note_granted(op, *lease_);
  believed_until_ = world_.recorder().history.events.back().until;
  upgraded_ = op;
  co_await nap(world_.is_calm() ? millisecond : world_.dice().mostly_short(world_.plan().ttl));
  upgraded_ = 0;
  if (is_silent()) co_return false;
  world_.recorder().add(What::releasing, op);
  auto downgrading = lease_->convert(1, Micros::zero(), {});
  const Result<void> downgraded = co_await std::move(downgrading);
  co_return downgraded.has_value();
}

Task<bool> Worker::give_back() {
  if (!is_silent()) world_.recorder().add(What::releasing, op_);
  const auto lease = std::exchange(lease_, nullptr);
  if (world_.dice().one_in(4)) {
    lease->abandon();
    world_.ended(op_);
    co_return true;
  }
  auto releasing = lease->release();
  const Result<Released> released = co_await std::move(releasing);
  world_.ended(op_);
  if (!is_silent()) world_.recorder().add(What::released, op_).detail = detail_of(released);
  co_return true;
}

}  // namespace holdfast::simulation::quorum
