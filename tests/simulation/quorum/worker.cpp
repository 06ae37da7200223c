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
    auto acquiring = acquire(world_.is_calm() ? turns_++ % locks : world_.dice().below(locks));
    if (!co_await std::move(acquiring)) continue;
    auto using_it = use();
    co_await std::move(using_it);
    auto ending = give_back();
    co_await std::move(ending);
  }
  done_ = true;
  co_return true;
}

client::Wanted Worker::some_wish(std::size_t lock) {
  const Plan& plan = world_.plan();
  Dice& dice = world_.dice();
  const std::size_t patience = dice.below(8);
  const Time wait = patience <= 1 ? 0 : patience == 2 ? dice.mostly_short(plan.ttl) : 6 * plan.ttl;
  return {.name = plan.names[lock],
          .spec = plan.spec,
          .owner = client_.core->fresh_owner(),
          .request = client_.core->fresh_request(),
          .permits = plan.spec.kind == Kind::read_write && dice.below(3) != 0 ? 1 : all_permits,
          .ttl = micros(plan.ttl),
          .wait = micros(wait),
          .retry = dice.one_in(16)};
}

client::Terms Worker::some_terms() {
  return {.ttl = micros(world_.plan().ttl), .renew = !world_.dice().one_in(3)};
}

void Worker::maybe_cancel_soon() {
  stop_ = {};
  if (world_.is_calm() || !world_.dice().one_in(world_.plan().faults.cancel)) return;
  world_.recorder().harmless_fault();
  const Time after = world_.dice().mostly_short(world_.plan().ttl);
  client_.process->arrive(world_.now() + after, [stop = stop_]() mutable { stop.request_stop(); });
}

Task<bool> Worker::acquire(std::size_t lock) {
  client::Wanted wish = some_wish(lock);
  const Attempt attempt{.name = static_cast<history::NameId>(lock + 1),
                        .process = client_.id,
                        .permits = wish.permits,
                        .capacity = all_permits,
                        .waits = wish.wait > Micros::zero(),
                        .ttl = world_.plan().ttl,
                        .give_up = world_.now() + wish.wait.count() * microsecond};
  op_ = world_.asked(attempt, wish.owner);
  is_shared_ = wish.permits == 1;
  maybe_cancel_soon();
  client::HeldLease::Identity identity{.name = wish.name,
                                       .spec = wish.spec,
                                       .owner = wish.owner,
                                       .request = wish.request,
                                       .permits = wish.permits};
  auto asking = client::acquire(client_.core, std::move(wish), stop_.get_token());
  const Result<client::Won> won = co_await std::move(asking);
  if (!won) {
    world_.ended(op_);
    if (!is_silent()) {
      world_.recorder().add(What::failed, op_).detail = detail_of(won.error().code);
    }
    co_return false;
  }
  identity.request = won->request;
  lease_ = client::HeldLease::start(client_.core, std::move(identity), some_terms(), *won);
  if (is_silent()) co_return true;
  note_granted(op_);
  lease_->on_lost([this, op = op_](const Error&) { note_lost(op); });
  co_return true;
}

void Worker::note_granted(OpId op) {
  ++world_.recorder().grants;
  Event& event = world_.recorder().add(What::granted, op);
  event.fence = lease_->fence();
  event.until = believed_until_ =
      world_.now() + std::chrono::nanoseconds(lease_->remaining()).count();
}

void Worker::note_lost(OpId op) {
  if (is_silent()) return;
  world_.recorder().add(What::lost, op);
  if (op == op_ && upgraded_ != 0) world_.recorder().add(What::lost, upgraded_);
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
    if (!is_shared_ || is_over() || !world_.dice().one_in(2)) continue;
    auto upgrading = upgrade_for_a_while();
    co_await std::move(upgrading);
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
  auto upgrading = lease_->convert(all_permits, micros(wait), stop_.get_token());
  const Result<void> upgraded = co_await std::move(upgrading);
  world_.ended(op);
  if (is_silent()) co_return false;
  if (!upgraded || lease_->remaining() <= Micros::zero()) {
    const Errc code = upgraded ? Errc::lost : upgraded.error().code;
    world_.recorder().add(What::failed, op).detail = detail_of(code);
    co_return false;
  }
  note_granted(op);
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
