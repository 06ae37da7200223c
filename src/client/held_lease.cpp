// SPDX-License-Identifier: Apache-2.0
#include "client/held_lease.hpp"

#include "client/explain.hpp"
#include "runtime/backoff.hpp"
#include "runtime/event.hpp"
#include "runtime/log.hpp"
#include "runtime/spawn.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::client {

using store::Reply;
using store::Request;

namespace {

Terms with_drift(Terms terms, const Core& core) {
  terms.drift = core.drift();
  return terms;
}

}  // namespace

std::shared_ptr<HeldLease> HeldLease::start(std::shared_ptr<Core> core, Identity identity,
                                            Terms terms, const Won& won,
                                            std::optional<LocalTime> began) {
  auto lease = std::make_shared<HeldLease>(std::move(core), std::move(identity), terms, won);
  std::optional<Micros> waited;
  if (began) waited = std::chrono::floor<Micros>(lease->since_ - *began);
  lease->core_->holdings().join(*lease, waited);
  {
    const std::lock_guard lock(lease->mutex_);
    lease->arm();
  }
  lease->core_->watch(lease, won.asked);
  return lease;
}

HeldLease::HeldLease(std::shared_ptr<Core> core, Identity identity, Terms terms, const Won& won)
    : core_(std::move(core)),
      identity_(std::move(identity)),
      since_(core_->runtime().now()),
      traced_(core_->span(
          "lock.hold", {{"lock.name", identity_.name.str()}, {"lock.fence", traced(won.fence)}})),
      ear_(won.ear),
      fence_(won.fence),
      newest_fence_(won.fence),
      exclusive_(identity_.permits == all_permits),
      plan_(with_drift(terms, *core_), since_, won.valid_until, won.claim) {}

HeldLease::~HeldLease() {
  // Not in a forked child: the mutexes of the parent's threads may be locked for ever there.
  if (state_ == State::held && core_->is_ours()) leave(now(), "detached");
}

void HeldLease::leave(LocalTime at, std::string_view how) {
  core_->holdings().leave(*this, std::chrono::floor<Micros>(at - since_));
  traced_.end({{"lock.ended", how}});
}

Fence HeldLease::fence() const {
  const std::lock_guard lock(mutex_);
  return fence_;
}

Micros HeldLease::remaining() const {
  const std::lock_guard lock(mutex_);
  if (state_ != State::held) return Micros::zero();
  return std::max(Micros::zero(), std::chrono::floor<Micros>(plan_.valid_until() - now()));
}

bool HeldLease::is_held_at(LocalTime at) const {
  const std::lock_guard lock(mutex_);
  return state_ == State::held && plan_.valid_until() - at >= Micros(1);
}

LocalTime HeldLease::believed_until() const {
  const std::lock_guard lock(mutex_);
  return plan_.valid_until();
}

std::stop_token HeldLease::lost() {
  std::unique_lock lock(mutex_);
  if (!lost_.stop_possible()) lost_ = std::stop_source();
  auto signal = lost_;
  const bool is_lost = loss_.has_value();
  lock.unlock();
  // Not under the lock: it runs the callbacks of whoever asked before.
  if (is_lost) signal.request_stop();
  return signal.get_token();
}

void HeldLease::on_lost(std::function<void(const Error&)> callback) {
  std::unique_lock lock(mutex_);
  if (!loss_) {
    on_lost_.swap(callback);
    lock.unlock();  // before what was there goes away: it may hold whatever the user put into it
    return;
  }
  lock.unlock();
  if (!callback) return;
  core_->runtime().post([callback = std::move(callback), loss = *loss_] { callback(loss); });
}

Request HeldLease::ask(model::LockCommand command, LocalTime deadline) const {
  return Request{.name = identity_.name, .command = std::move(command), .deadline = deadline};
}

void HeldLease::arm() {
  const LocalTime when = plan_.next_event();
  // An early tick only looks and arms again, so a timer is never moved to a later time.
  if (timer_ != runtime::TimerId::none && armed_for_ <= when) return;
  if (timer_ != runtime::TimerId::none) core_->runtime().cancel(timer_);
  armed_for_ = when;
  timer_ = core_->runtime().schedule(when, [weak = weak_from_this()] {
    if (const auto lease = weak.lock()) lease->tick();
  });
}

void HeldLease::tick() {
  std::unique_lock lock(mutex_);
  timer_ = runtime::TimerId::none;
  if (state_ != State::held) return;
  const LocalTime at = now();
  if (at >= plan_.lost_at()) {
    lock.unlock();
    return lose({Errc::lost, fmt::format("'{}' was not renewed in time", identity_.name.str())});
  }
  std::optional<Micros> ttl;
  if (plan_.renewal_due(at)) {
    ttl = plan_.ttl_due(at);
    if (ttl)
      plan_.sent();
    else
      plan_.stop_renewing();
  }
  const LocalTime deadline = plan_.patience(at);
  arm();
  lock.unlock();
  if (ttl) runtime::spawn(renew(*ttl, deadline));
}

Task<Result<void>> HeldLease::confirm(LocalTime since) {
  const auto self = shared_from_this();
  std::unique_lock lock(mutex_);
  const LocalTime at = now();
  if (state_ != State::held || at >= plan_.lost_at() || plan_.is_known_since(since)) {
    co_return Result<void>{};
  }
  plan_.doubt(since);
  if (plan_.is_in_flight()) co_return Result<void>{};
  const Micros ttl = plan_.ttl_to_confirm(at);
  const LocalTime until = plan_.patience(at);
  plan_.sent();
  lock.unlock();
  auto asking = renew(ttl, until);
  co_return co_await std::move(asking);
}

// Only an upgrade changes the fence of a lease. An older answer may come after a newer one.
bool HeldLease::is_the_same_lease(Fence sent_with, Fence fence) const {
  const bool is_known = fence >= sent_with && fence <= newest_fence_;
  return is_known || was_converted_ || identity_.request == model::RequestId::any;
}

// "Not yours" ends the lease at once; "no answer" only counts as a failure, and the lease goes on
// to its deadline.
Task<Result<void>> HeldLease::renew(Micros ttl, LocalTime deadline) {
  const auto self = shared_from_this();
  model::LockCommand command{identity_.spec, model::Renew{identity_.owner, identity_.request, ttl}};
  const LocalTime before_send = now();
  std::unique_lock lock(mutex_);
  const Fence sent_with = newest_fence_;
  lock.unlock();
  auto renewing = core_->store().apply(ask(std::move(command), deadline));
  const Result<Reply> reply = co_await std::move(renewing);
  const auto* outcome = reply ? &std::get<model::LockOutcome>(reply->outcome) : nullptr;
  const auto* granted = outcome ? std::get_if<model::Granted>(outcome) : nullptr;
  if (outcome && !granted) {
    Error error{Errc::lost, fmt::format("the store says: {}",
                                        explain_refusal(identity_.name, *outcome).message)};
    lose(error);
    co_return std::unexpected(std::move(error));
  }
  lock.lock();
  if (granted && !is_the_same_lease(sent_with, granted->fence)) {
    lock.unlock();
    Error error{Errc::lost,
                fmt::format("'{}' ended, and was given anew by a late copy of a request",
                            identity_.name.str())};
    lose(error);
    co_return std::unexpected(std::move(error));
  }
  if (granted)
    plan_.renewed({before_send, now(), ttl, granted->remaining});
  else
    plan_.failed(now(), core_->runtime().random());
  if (state_ == State::held) arm();
  const bool undo = granted && must_be_undone(granted->fence);
  // It was asked before the store changed, and may have been answered before that too.
  const LocalTime since = plan_.doubted_since();
  const bool must_ask = granted && plan_.is_doubted();
  lock.unlock();
  if (undo) runtime::spawn(undo_upgrade());
  if (must_ask) runtime::spawn(confirm(since));
  if (granted) co_return Result<void>{};
  co_return std::unexpected(reply.error());
}

// A newer fence than we know of is that of an upgrade which was given up, and came through after
// all. Nobody else converts the lease until it is undone.
bool HeldLease::must_be_undone(Fence fence) {
  const bool upgraded_behind_our_back =
      was_converted_ && fence > newest_fence_ && !exclusive_ && !converting_;
  newest_fence_ = std::max(newest_fence_, fence);
  may_be_upgraded_ = may_be_upgraded_ || upgraded_behind_our_back;
  if (!may_be_upgraded_ || converting_ || state_ != State::held) return false;
  converting_ = true;
  return true;
}

void HeldLease::lose(Error error) {
  std::unique_lock lock(mutex_);
  if (state_ != State::held) return;
  state_ = State::lost;
  if (!loss_) loss_ = error;
  if (timer_ != runtime::TimerId::none) core_->runtime().cancel(timer_);
  timer_ = runtime::TimerId::none;
  auto callback = std::exchange(on_lost_, nullptr);
  auto signal = lost_;
  auto ear = std::exchange(ear_, nullptr);
  lock.unlock();
  ear.reset();
  core_->lost.fetch_add(1, std::memory_order_relaxed);
  signal.request_stop();
  leave(now(), "lost");
  if (!callback) return;
  if (core_->runtime().on_own_thread()) return callback(error);
  core_->runtime().post([callback = std::move(callback), error] { callback(error); });
}

bool HeldLease::end(LocalTime at, std::string_view how) {
  // Both go away after the lock: they may call back.
  std::shared_ptr<store::Listening> ear;
  std::function<void(const Error&)> callback;
  std::unique_lock lock(mutex_);
  if (state_ == State::ended) return false;
  const bool was_held = std::exchange(state_, State::ended) == State::held;
  ear.swap(ear_);
  callback.swap(on_lost_);
  if (timer_ != runtime::TimerId::none) core_->runtime().cancel(timer_);
  timer_ = runtime::TimerId::none;
  lock.unlock();
  if (was_held) leave(at, how);
  return true;
}

std::optional<Micros> HeldLease::unconfirmed_ttl() const {
  const std::lock_guard lock(mutex_);
  const bool is_claim = state_ == State::held && plan_.is_unconfirmed();
  return is_claim ? plan_.ttl_to_ask(now()) : std::nullopt;
}

void HeldLease::detach() {
  if (!core_->is_ours()) return;
  std::shared_ptr<store::Listening> ear;
  {
    const std::lock_guard lock(mutex_);
    ear = ear_;
  }
  if (!end(now(), "detached") || !ear) return;
  // The message of the hand-over may still come; unheard, it would give the lock back.
  const std::lock_guard lock(mutex_);
  core_->runtime().schedule(plan_.valid_until(), [ear = std::move(ear)] {});
}

void HeldLease::abandon() {
  const LocalTime at = now();
  if (!core_->is_ours() || !end(at, "released")) return;
  std::unique_lock lock(mutex_);
  // After an extension to less there is more to give back than the ttl.
  const Micros left = std::chrono::ceil<Micros>(plan_.valid_until() - at);
  const Micros at_most = std::max(plan_.ttl(), left + 2 * drift_allowance(left, core_->drift()));
  lock.unlock();
  runtime::spawn(withdraw(core_, identity_.name, ending(), at_most));
}

model::Release HeldLease::ending() const {
  model::Release what{identity_.owner, identity_.request};
  if (identity_.request == model::RequestId::any) what.up_to = fence();
  return what;
}

}  // namespace holdfast::client
