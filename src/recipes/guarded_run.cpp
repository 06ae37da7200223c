// SPDX-License-Identifier: Apache-2.0
#include "recipes/idempotency.hpp"
#include "recipes/run_watch.hpp"
#include "runtime/spawn.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::recipes {

std::shared_ptr<GuardedRun> GuardedRun::start(std::shared_ptr<client::Core> core, LockName name,
                                              RunTerms terms, bool renew,
                                              const Beginning& beginning, client::Span span) {
  auto run = std::make_shared<GuardedRun>(std::move(core), std::move(name), std::move(terms), renew,
                                          beginning);
  run->span_ = std::move(span);
  const std::lock_guard lock(run->mutex_);
  run->arm();
  return run;
}

GuardedRun::GuardedRun(std::shared_ptr<client::Core> core, LockName name, RunTerms terms,
                       bool renew, const Beginning& beginning)
    : core_(std::move(core)),
      name_(std::move(name)),
      terms_(std::move(terms)),
      fence_(beginning.outcome.fence),
      took_over_(beginning.outcome.found == RunFound::abandoned),
      plan_({.ttl = terms_.guard, .renew = renew, .drift = core_->drift()}, core_->runtime().now(),
            beginning.valid_until, std::nullopt) {}

bool GuardedRun::valid() const {
  const std::lock_guard lock(mutex_);
  return state_ == State::running && now() < plan_.valid_until();
}

Micros GuardedRun::remaining() const {
  const std::lock_guard lock(mutex_);
  if (state_ != State::running) return Micros::zero();
  return std::max(Micros::zero(), std::chrono::floor<Micros>(plan_.valid_until() - now()));
}

void GuardedRun::arm() {
  if (timer_ != runtime::TimerId::none) core_->runtime().cancel(timer_);
  timer_ = core_->runtime().schedule(plan_.next_event(), [weak = weak_from_this()] {
    if (const auto run = weak.lock()) run->tick();
  });
}

void GuardedRun::tick() {
  std::unique_lock lock(mutex_);
  timer_ = runtime::TimerId::none;
  if (state_ != State::running) return;
  const LocalTime at = now();
  if (at >= plan_.lost_at()) {
    lock.unlock();
    return lose();
  }
  const bool is_due = plan_.renewal_due(at);
  if (is_due) plan_.sent();
  const LocalTime deadline = plan_.patience(at);
  arm();
  lock.unlock();
  if (is_due) runtime::spawn(renew(deadline));
}

Task<Result<void>> GuardedRun::renew(LocalTime deadline) {
  const auto self = shared_from_this();
  const LocalTime before_send = now();
  auto asking = core_->store().apply(
      {.name = name_, .command = terms_.renew(), .deadline = deadline, .stop = {}});
  const Result<store::Reply> reply = co_await std::move(asking);
  const auto* outcome = reply ? &std::get<model::RunOutcome>(reply->outcome) : nullptr;
  if (outcome != nullptr && !outcome->done) {
    lose();
    co_return std::unexpected(explain_lost(name_, *outcome));
  }
  const std::lock_guard lock(mutex_);
  if (outcome != nullptr)
    plan_.renewed({before_send, now(), terms_.guard, outcome->remaining});
  else
    plan_.failed(now(), core_->runtime().random());
  if (state_ == State::running) arm();
  co_return Result<void>{};
}

void GuardedRun::lose() {
  {
    const std::lock_guard lock(mutex_);
    if (state_ != State::running) return;
    state_ = State::lost;
    if (timer_ != runtime::TimerId::none) core_->runtime().cancel(timer_);
    timer_ = runtime::TimerId::none;
  }
  lost_.request_stop();
}

bool GuardedRun::stop_renewing() {
  const std::lock_guard lock(mutex_);
  if (state_ == State::ended) return false;
  state_ = State::ended;
  if (timer_ != runtime::TimerId::none) core_->runtime().cancel(timer_);
  timer_ = runtime::TimerId::none;
  return true;
}

Task<Result<void>> GuardedRun::end(model::RunCommand last_word) {
  const auto self = shared_from_this();
  // What is refused for its form does not end the run.
  if (auto good = model::admissible(last_word); !good) co_return good;
  if (!stop_renewing()) {
    co_return fail(Errc::lost, fmt::format("the run of '{}' has ended before", name_.str()));
  }
  const auto verb = last_word.verb;
  auto saying = say_last_word(core_, name_, std::move(last_word));
  Result<void> said = co_await std::move(saying);
  tell_end(span_, verb, fence_, said);
  co_return said;
}

void GuardedRun::leave() {
  if (!core_->is_ours() || !stop_renewing()) return;
  tell_end(span_, model::RunCommand::Verb::abandon, fence_, {});
  runtime::spawn(say_last_word(core_, name_, terms_.abandon()));
}

}  // namespace holdfast::recipes
