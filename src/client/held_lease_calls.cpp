// SPDX-License-Identifier: Apache-2.0
//
// What a user asks of a lease: release, extend, upgrade, downgrade.
#include "client/explain.hpp"
#include "client/held_lease.hpp"
#include "runtime/backoff.hpp"
#include "runtime/event.hpp"

#include <fmt/format.h>

namespace holdfast::client {

using store::Reply;

namespace {

constexpr runtime::Backoff between_releases{.first = std::chrono::milliseconds(10),
                                            .cap = std::chrono::milliseconds(250)};

// After an attempt whose outcome is unknown, "not yours" most likely means that it worked. A late
// copy of the acquire may have left a place in the queue; ending that is no release of a lease.
Released released_as(const model::LockOutcome& outcome, bool may_have_worked_before) {
  const auto* released = std::get_if<model::Released>(&outcome);
  if (may_have_worked_before || (released && released->lease)) return Released::released;
  return std::holds_alternative<model::NotOwner>(outcome) ? Released::held_by_another
                                                          : Released::already_expired;
}

}  // namespace

Task<Result<Released>> HeldLease::release() {
  const auto self = shared_from_this();
  const LocalTime began = now();
  // What had ended before was not released by us, whatever became of an unanswered attempt.
  const bool had_it = is_held_at(began);
  const LocalTime would_last_until = believed_until();
  if (!end(began, "released")) {
    co_return fail(Errc::not_held, fmt::format("'{}' was released before", identity_.name.str()));
  }
  const LocalTime give_up_at = began + release_timeout;
  bool may_have_worked = false;
  for (unsigned failures = 0;; ++failures) {
    const LocalTime at = failures == 0 ? began : now();
    model::LockCommand command{identity_.spec, ending()};
    const LocalTime deadline = std::min<LocalTime>(at + command_timeout, give_up_at);
    auto releasing = core_->store().apply(ask(std::move(command), deadline));
    const Result<Reply> reply = co_await std::move(releasing);
    if (reply) {
      // Once the lease would have run out by itself, "not yours" says nothing about the attempt.
      const bool ended_it = may_have_worked && now() < would_last_until;
      co_return released_as(std::get<model::LockOutcome>(reply->outcome), ended_it);
    }
    const bool may_have_happened = reply.error().code == Errc::outcome_unknown;
    may_have_worked = may_have_worked || (may_have_happened && had_it);
    const Micros delay = next_delay(between_releases, failures, core_->runtime().random());
    if (now() + delay >= give_up_at) {
      core_->unreleased.fetch_add(1, std::memory_order_relaxed);
      Error error = reply.error();
      if (may_have_worked) error.code = Errc::outcome_unknown;
      co_return std::unexpected(std::move(error));
    }
    runtime::Event nobody(core_->shared_runtime());
    co_await nobody.wait_until(now() + delay);
  }
}

Task<Result<Released>> HeldLease::take_away() {
  std::unique_lock lock(mutex_);
  if (state_ != State::held || loss_) {
    lock.unlock();
    return release();
  }
  Error loss{Errc::lost, fmt::format("'{}' was given back by release_all", identity_.name.str())};
  loss_ = loss;
  auto signal = lost_;
  auto callback = std::exchange(on_lost_, nullptr);
  lock.unlock();
  signal.request_stop();
  if (callback) {
    core_->runtime().post(
        [callback = std::move(callback), loss = std::move(loss)] { callback(loss); });
  }
  return release();
}

Error HeldLease::why_not_held() const {
  if (loss_) return *loss_;
  return {Errc::not_held, fmt::format("'{}' was released before", identity_.name.str())};
}

Task<Result<void>> HeldLease::extend(Micros ttl) {
  const auto self = shared_from_this();
  {
    const std::lock_guard lock(mutex_);
    if (state_ != State::held) co_return std::unexpected(why_not_held());
    plan_.sent();
  }
  auto renewing = renew(ttl, now() + command_timeout);
  Result<void> renewed = co_await std::move(renewing);
  const std::lock_guard lock(mutex_);
  if (state_ != State::held) co_return std::unexpected(why_not_held());
  if (renewed) plan_.change_ttl(ttl);
  // What was adopted without a fence stands for all that its owner holds by now.
  const bool is_of_all = identity_.request == model::RequestId::any && identity_.up_to == 0;
  if (renewed && is_of_all) fence_ = std::max(fence_, newest_fence_);
  co_return renewed;
}

// One conversion in the store, which says in the end whether it happened.
Task<Result<void>> HeldLease::ask_for(std::uint32_t permits, Micros wait, std::stop_token stop) {
  const auto self = shared_from_this();
  Wanted wanted{.name = identity_.name,
                .spec = identity_.spec,
                .owner = identity_.owner,
                .request = core_->fresh_request(),
                .converts = identity_.request,
                .permits = permits,
                .wait = wait,
                .metadata = identity_.metadata};
  {
    const std::lock_guard lock(mutex_);
    wanted.ttl = plan_.ttl();
    wanted.known = newest_fence_;
  }
  auto asking = acquire(core_, std::move(wanted), std::move(stop));
  Result<Won> won = co_await std::move(asking);
  if (won) {
    const std::lock_guard lock(mutex_);
    fence_ = std::max(fence_, won->fence);
    newest_fence_ = std::max(newest_fence_, won->fence);
    co_return Result<void>{};
  }
  if (won.error().code == Errc::not_held || won.error().code == Errc::not_owner) {
    won.error().code = Errc::lost;
    lose(won.error());
  }
  co_return std::unexpected(std::move(won.error()));
}

// A renewal tells the fence that the lease has by now.
Task<Result<void>> HeldLease::learn_fence() {
  const auto self = shared_from_this();
  Micros ttl{};
  {
    const std::lock_guard lock(mutex_);
    if (state_ != State::held) co_return std::unexpected(why_not_held());
    // A renewal never shortens, so that the smallest one does when max_hold is near.
    ttl = plan_.ttl_to_ask(now()).value_or(min_ttl);
    plan_.sent();
  }
  auto renewing = renew(ttl, now() + command_timeout);
  co_return co_await std::move(renewing);
}

// A failed upgrade may have been granted in the very moment it was given up: asks for the shared
// lease again, which changes nothing if it still is one. If even that fails, the next renewal that
// succeeds sees to it.
Task<Result<void>> HeldLease::back_to_shared() {
  const auto self = shared_from_this();
  auto undoing = ask_for(1, Micros::zero(), {});
  Result<void> undone = co_await std::move(undoing);
  const std::lock_guard lock(mutex_);
  may_be_upgraded_ = !undone;
  co_return undone;
}

// In the background: whoever started it has set converting_.
Task<Result<void>> HeldLease::undo_upgrade() {
  const auto self = shared_from_this();
  auto undoing = back_to_shared();
  Result<void> undone = co_await std::move(undoing);
  const std::lock_guard lock(mutex_);
  converting_ = false;
  co_return undone;
}

Task<Result<void>> HeldLease::convert(std::uint32_t permits, Micros wait, std::stop_token stop) {
  const auto self = shared_from_this();
  const bool upgrades = permits == all_permits;
  // An adopted lease does not know its kind, so it is refused here too.
  if (identity_.spec.kind != Kind::read_write) {
    co_return fail(
        Errc::bad_input,
        fmt::format("'{}' is not a read-write lock: only those are upgraded and downgraded",
                    identity_.name.str()));
  }
  {
    const std::lock_guard lock(mutex_);
    if (state_ != State::held) co_return std::unexpected(why_not_held());
    if (upgrades && exclusive_) co_return Result<void>{};
    if (converting_) {
      co_return fail(Errc::busy, fmt::format("'{}' is being converted already by this lease",
                                             identity_.name.str()));
    }
    converting_ = true;
    was_converted_ = true;
    exclusive_ = false;
  }
  auto asking = ask_for(permits, wait, std::move(stop));
  Result<void> converted = co_await std::move(asking);
  const Errc code = converted ? Errc{} : converted.error().code;
  if (!upgrades && code == Errc::busy) {
    // An upgrade that we took for failed has changed the fence.
    auto learning = learn_fence();
    co_await std::move(learning);
    auto again = ask_for(permits, wait, {});
    converted = co_await std::move(again);
  }
  if (upgrades && !converted && code != Errc::busy && code != Errc::lost) {
    auto learning = learn_fence();
    co_await std::move(learning);
    auto undoing = back_to_shared();
    co_await std::move(undoing);
  }
  const std::lock_guard lock(mutex_);
  converting_ = false;
  if (state_ != State::held) co_return std::unexpected(why_not_held());
  exclusive_ = upgrades && converted;
  if (converted) may_be_upgraded_ = false;
  co_return converted;
}

}  // namespace holdfast::client
