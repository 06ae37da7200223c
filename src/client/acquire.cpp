// SPDX-License-Identifier: Apache-2.0
#include "client/acquire.hpp"

#include "client/explain.hpp"
#include "runtime/backoff.hpp"
#include "runtime/event.hpp"
#include "runtime/log.hpp"
#include "runtime/spawn.hpp"

#include <fmt/format.h>

#include <utility>

namespace holdfast::client {

namespace {

using store::Notice;
using store::Reply;
using store::Request;

constexpr runtime::Backoff after_errors{.first = std::chrono::milliseconds(10),
                                        .cap = std::chrono::seconds(1)};

// One acquire from start to end. Lives inside the coroutine frame of `acquire`.
class Attempt {
 public:
  Attempt(std::shared_ptr<Core> core, Wanted wanted, std::stop_token stop)
      : core_(std::move(core)),
        wanted_(std::move(wanted)),
        stop_(std::move(stop)),
        give_up_at_(waits() ? now() + wanted_.wait : LocalTime{}),
        can_(core_->store().capabilities()),
        request_(wanted_.request) {}
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  ~Attempt() { leave_line(); }

  // Either ends the attempt (a value) or leaves it to the next round (nothing).
  using Verdict = std::optional<Result<Won>>;

  Result<void> get_ready();
  Task<Result<Reply>> ask();
  Verdict judge(const Result<Reply>& reply);
  Task<Notice> pause();
  bool moved_up(const Notice& notice);
  Verdict judge(const Notice& notice);
  Task<Result<Won>> give_up(Error error);

  bool is_cancelled() const { return stop_.stop_requested(); }
  Error cancelled() const { return {Errc::cancelled, explain_cancel(wanted_.name)}; }
  void wake_up() const;

 private:
  bool waits() const { return wanted_.wait > Micros::zero(); }
  bool queues() const { return listening_ != nullptr; }
  bool can_queue() const { return !wanted_.retry && can_.queues; }
  // A try may be several, where the store says so.
  bool tries_again() const { return waits() || refusals_ < can_.retry.times; }
  bool spends_its_request() const {
    return can_.spends_requests && wanted_.converts == model::RequestId::any;
  }

  LocalTime now() const { return core_->runtime().now(); }
  Verdict judge(const model::LockOutcome& outcome);
  Verdict judge(const Error& error);
  void stand_in_line(const model::Queued& queued);
  void leave_line();
  void take_another_request();
  model::Release withdrawal() const {
    // What is asked for under a request of its own is nobody else's.
    return {wanted_.owner, request_, wanted_.is_shared && !spends_its_request()};
  }

  const std::shared_ptr<Core> core_;
  const Wanted wanted_;
  const std::stop_token stop_;
  const LocalTime give_up_at_;
  const store::Capabilities can_;
  model::RequestId request_;  // of the question whose reply is read

  // What ends a pause: an ear at the store where it can queue us, else only the caller's stop.
  std::shared_ptr<store::Listening> listening_;
  std::shared_ptr<runtime::Event> alarm_;

  LocalTime before_send_{};  // of the question whose reply is read
  bool may_be_in_store_ = false;
  std::optional<model::Queued> queued_;
  std::optional<ClockPair> pair_;
  Micros pause_{};
  bool stands_behind_ = false;  // another waiter of this client
  unsigned questions_ = 0;      // asked while it did not
  unsigned failures_ = 0;
  unsigned refusals_ = 0;
  std::optional<Error> no_quorum_;  // the last reply
};

Task<Notice> sleep_until(std::shared_ptr<runtime::Event> alarm, LocalTime until) {
  const bool woken = co_await alarm->wait_until(until);
  co_return Notice{woken ? Notice::Reason::poked : Notice::Reason::deadline, {}};
}

Result<void> Attempt::get_ready() {
  if (!tries_again()) return {};
  if (!waits() || !can_queue()) {
    alarm_ = std::make_shared<runtime::Event>(core_->shared_runtime());
    return {};
  }
  auto listening = core_->store().listen(wanted_.name, wanted_.owner, wanted_.request);
  if (!listening) return std::unexpected(std::move(listening.error()));
  listening_ = std::move(*listening);
  return {};
}

// From the runtime's thread, because this resumes the coroutine, which may end inside of it.
void Attempt::wake_up() const {
  core_->runtime().post([ear = listening_, alarm = alarm_] {
    if (ear) ear->poke();
    if (alarm) alarm->notify();
  });
}

// A question whose answer was lost may have been granted: the next one would wait behind it.
void Attempt::take_another_request() {
  if (std::exchange(may_be_in_store_, false)) {
    runtime::spawn(withdraw(core_, wanted_.name, withdrawal(), wanted_.ttl));
  }
  request_ = core_->fresh_request();
}

Task<Result<Reply>> Attempt::ask() {
  const bool is_first = before_send_ == LocalTime{};
  if (!is_first && spends_its_request()) take_another_request();
  before_send_ = now();
  const LocalTime command_ends = before_send_ + command_timeout;
  model::Acquire verb{.owner = wanted_.owner,
                      .request = request_,
                      .permits = wanted_.permits,
                      .ttl = wanted_.ttl,
                      .wait = queues(),
                      .place = queued_ ? queued_->place : 0,
                      .converts = wanted_.converts,
                      .known = wanted_.known,
                      .process = queues() ? listening_->process() : model::ProcessId::none,
                      .metadata = wanted_.metadata};
  return core_->store().apply(
      {.name = wanted_.name,
       .command = model::LockCommand{wanted_.spec, std::move(verb)},
       .deadline = waits() ? std::min(command_ends, give_up_at_) : command_ends,
       .stop = stop_});
}

Attempt::Verdict Attempt::judge(const Result<Reply>& reply) {
  if (!reply) return judge(reply.error());
  failures_ = 0;
  no_quorum_.reset();
  const bool tells_the_time = reply->at != model::StoreTime{};
  if (tells_the_time) {
    pair_ = ClockPair{before_send_, reply->at};
  }
  return judge(std::get<model::LockOutcome>(reply->outcome));
}

Attempt::Verdict Attempt::judge(const model::LockOutcome& outcome) {
  if (const auto* granted = std::get_if<model::Granted>(&outcome)) {
    may_be_in_store_ = true;
    // A store whose clock was set back tells more than was asked for.
    const Micros remaining = std::min(granted->remaining, wanted_.ttl);
    const LocalTime until = valid_until(before_send_, remaining, core_->drift());
    if (until > now()) return Won{request_, granted->fence, until, std::nullopt, listening_};
    // The answer took longer than the lease lasted. Ask for what is left, if anything.
    pause_ = std::chrono::milliseconds(1);
    if (waits() && !spends_its_request()) return std::nullopt;
    return fail(Errc::timed_out, explain_late(wanted_.name));
  }
  if (const auto* queued = std::get_if<model::Queued>(&outcome)) {
    may_be_in_store_ = may_be_in_store_ || !spends_its_request();
    stand_in_line(*queued);
    return std::nullopt;
  }
  if (const auto* busy = std::get_if<model::Busy>(&outcome)) {
    // Upgraders that ask again and again would each wait for the other's shared lease to end; only
    // a queue can tell the second one.
    const bool converts = wanted_.converts != model::RequestId::any;
    if (!tries_again() || queues() || converts) {
      return fail(Errc::busy, explain_busy(wanted_.name, *busy));
    }
    if (!waits()) {
      ++refusals_;
      pause_ = runtime::jittered(can_.retry.delay, can_.retry.jitter, core_->runtime().random());
      return std::nullopt;
    }
    const Micros delay = runtime::next_delay({}, refusals_++, core_->runtime().random());
    pause_ = std::min(delay, busy->retry_after + std::chrono::milliseconds(1));
    return std::nullopt;
  }
  return std::unexpected(explain_refusal(wanted_.name, outcome));
}

Attempt::Verdict Attempt::judge(const Error& error) {
  const bool may_have_happened = error.code == Errc::outcome_unknown;
  const bool no_quorum = error.code == Errc::quorum_not_reached;
  // The end of the wait cut this question short, and the one before was answered.
  const bool is_cut_short = no_quorum && queued_ && !no_quorum_ && now() >= give_up_at_;
  if (no_quorum) no_quorum_ = error;
  // Granted, but too few replicas know of it: it is there, and must be given back.
  const bool happened = error.code == Errc::not_replicated;
  may_be_in_store_ = may_be_in_store_ || may_have_happened || happened;
  const bool may_pass = may_have_happened || error.code == Errc::unavailable || no_quorum;
  if (may_pass && is_cancelled()) return std::unexpected(cancelled());
  if (no_quorum && !waits() && tries_again()) {
    ++refusals_;
    pause_ = runtime::jittered(can_.retry.delay, can_.retry.jitter, core_->runtime().random());
    return std::nullopt;
  }
  if (is_cut_short) return fail(Errc::timed_out, explain_timeout(wanted_.name, wanted_.wait));
  if (!may_pass || !waits() || now() >= give_up_at_) return std::unexpected(error);
  pause_ = next_delay(after_errors, failures_++, core_->runtime().random());
  return std::nullopt;
}

Attempt::Verdict Attempt::judge(const Notice& notice) {
  if (notice.store_changed) pair_.reset();
  if (notice.reason == Notice::Reason::granted) {
    if (const auto until = usable_at_once(pair_, notice.grant, now(), core_->drift())) {
      return Won{request_, notice.grant.fence, *until, notice.grant.lease, listening_};
    }
    // Asking again confirms the claim, and the reply to that can be trusted.
    return std::nullopt;
  }
  if (now() < give_up_at_ || !waits()) return std::nullopt;
  // Not that it was held, but that nobody could say so.
  if (no_quorum_) return std::unexpected(*no_quorum_);
  return fail(Errc::timed_out, explain_timeout(wanted_.name, wanted_.wait));
}

void Attempt::stand_in_line(const model::Queued& queued) {
  if (!queued_ && wanted_.on_queued) wanted_.on_queued();
  if (queued_ && queued_->place != queued.place) leave_line();
  queued_ = queued;
  const auto in_line = core_->lines().join(wanted_.name, queued.place, listening_);
  stands_behind_ = !core_->lines().is_first(wanted_.name, queued.place);
  const auto standing = stands_behind_                       ? Standing::behind
                        : ++questions_ > max_quick_questions ? Standing::first_for_long
                                                             : Standing::first;
  pause_ = backstop(queued, standing, in_line, core_->runtime().random());
}

void Attempt::leave_line() {
  if (!queued_) return;
  auto next = core_->lines().leave(wanted_.name, queued_->place);
  if (!next) return;
  core_->runtime().post([next = std::move(next)] { next->poke(); });
}

// Poked without having been cancelled: it became the first of its line, and asks more often now.
bool Attempt::moved_up(const Notice& notice) {
  if (notice.reason != Notice::Reason::poked || !stands_behind_ || now() >= give_up_at_) {
    return false;
  }
  stands_behind_ = false;
  pause_ = std::min(pause_, between_questions(Standing::first, core_->runtime().random()));
  return true;
}

Task<Notice> Attempt::pause() {
  const LocalTime due = now() + pause_;
  // The crowd asks on the second, all at once: one write, and one wake-up of the server.
  const LocalTime when = stands_behind_ && pause_ > std::chrono::seconds(2)
                             ? std::chrono::floor<std::chrono::seconds>(due)
                             : together(due, pause_);
  const LocalTime until = waits() ? std::min<LocalTime>(when, give_up_at_) : due;
  return listening_ ? listening_->next(until) : sleep_until(alarm_, until);
}

Task<Result<Won>> Attempt::give_up(Error error) {
  if (may_be_in_store_) {
    auto withdrawing = withdraw(core_, wanted_.name, withdrawal(), wanted_.ttl);
    co_await std::move(withdrawing);
  }
  co_return std::unexpected(std::move(error));
}

struct Withdrawal {
  std::shared_ptr<Core> core;
  LockName name;
  model::Release what;
  LocalTime until{};
};

Task<bool> try_withdraw(std::shared_ptr<Core> core, LockName name, model::Release what,
                        LocalTime deadline) {
  model::LockCommand command{.spec = {}, .verb = std::move(what)};
  Request ask{.name = std::move(name), .command = std::move(command), .deadline = deadline};
  auto releasing = core->store().apply(std::move(ask));
  const Result<Reply> reply = co_await std::move(releasing);
  co_return reply.has_value();
}

// Until the store has heard it, or the lease has ended by itself.
Task<bool> keep_withdrawing(Withdrawal rest) {
  runtime::Event nobody(rest.core->shared_runtime());
  for (unsigned failures = 0; rest.core->runtime().now() < rest.until; ++failures) {
    const LocalTime now = rest.core->runtime().now();
    auto trying = try_withdraw(rest.core, rest.name, rest.what,
                               std::min<LocalTime>(now + command_timeout, rest.until));
    if (co_await std::move(trying)) co_return true;
    const Micros delay = next_delay(after_errors, failures, rest.core->runtime().random());
    co_await nobody.wait_until(std::min<LocalTime>(now + delay, rest.until));
  }
  rest.core->unreleased.fetch_add(1, std::memory_order_relaxed);
  runtime::log_warning(fmt::format("could not give back '{}' on {}; it ended with its ttl",
                                   rest.name.str(), rest.core->store().describe()));
  co_return false;
}

}  // namespace

Task<bool> withdraw(std::shared_ptr<Core> core, LockName name, model::Release what, Micros ttl) {
  const LocalTime now = core->runtime().now();
  auto trying = try_withdraw(core, name, what, now + prompt_timeout);
  if (co_await std::move(trying)) co_return true;
  Withdrawal rest{core, std::move(name), std::move(what), now + ttl};
  core->runtime().post(
      [rest = std::move(rest)]() mutable { runtime::spawn(keep_withdrawing(std::move(rest))); });
  co_return false;
}

Task<Result<Won>> acquire(std::shared_ptr<Core> core, Wanted wanted, std::stop_token stop) {
  Attempt attempt(std::move(core), std::move(wanted), stop);
  if (auto ready = attempt.get_ready(); !ready) co_return std::unexpected(ready.error());
  const std::stop_callback on_stop(std::move(stop), [&attempt] { attempt.wake_up(); });
  Attempt::Verdict verdict;
  while (!attempt.is_cancelled()) {
    auto asking = attempt.ask();
    const Result<Reply> reply = co_await std::move(asking);
    verdict = attempt.judge(reply);
    if (verdict || attempt.is_cancelled()) break;
    auto pausing = attempt.pause();
    Notice notice = co_await std::move(pausing);
    while (!attempt.is_cancelled() && attempt.moved_up(notice)) {
      auto again = attempt.pause();
      notice = co_await std::move(again);
    }
    verdict = attempt.judge(notice);
    if (verdict) break;
  }
  if (verdict && verdict->has_value()) co_return std::move(*verdict);
  auto ending = attempt.give_up(verdict ? std::move(verdict->error()) : attempt.cancelled());
  co_return co_await std::move(ending);
}

}  // namespace holdfast::client
