// SPDX-License-Identifier: Apache-2.0
#include "client/acquire.hpp"

#include "client/explain.hpp"
#include "runtime/backoff.hpp"
#include "runtime/event.hpp"
#include "runtime/spawn.hpp"

#include <utility>

namespace holdfast::client {

namespace {

using store::Notice;
using store::Reply;
using store::Request;

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
  bool is_over() const { return waits() && now() >= give_up_at_; }
  Verdict judge(const model::LockOutcome& outcome);
  Verdict judge(const Error& error);
  void stand_in_line(const model::Queued& queued);
  void leave_line();
  void take_another_request();
  bool is_cut_short(const Error& error) const;
  void note_failure(const Error& error);
  Error timed_out() const;
  Error away() const;
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
  bool was_answered_ = false;
  std::optional<Outage> outage_;  // nothing as long as the last question was answered
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
  was_answered_ = true;
  outage_.reset();
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
    if (until > now()) {
      return Won{request_, granted->fence, until, before_send_, std::nullopt, listening_};
    }
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

// The end of the wait, not the store, ended this question, and nothing failed before it.
bool Attempt::is_cut_short(const Error& error) const {
  if (!is_over() || outage_) return false;
  // A vote ends by its own time-outs: one that was never answered lacks a quorum.
  if (error.code == Errc::quorum_not_reached) return was_answered_;
  if (give_up_at_ >= before_send_ + command_timeout) return false;
  // It may have stood in a queue of our own; whether the store is away, the withdrawal will tell.
  return error.code == Errc::outcome_unknown || was_answered_;
}

void Attempt::note_failure(const Error& error) {
  if (outage_ && is_over()) return;  // the one before was not cut short, and says more
  if (!outage_) outage_.emplace(Outage{.error = {}, .since = before_send_});
  outage_->error = error;
}

Error Attempt::timed_out() const {
  if (!was_answered_) return explain_silence(wanted_.name, core_->store().describe(), wanted_.wait);
  return {Errc::timed_out, explain_timeout(wanted_.name, wanted_.wait)};
}

Error Attempt::away() const {
  const auto for_so_long = std::chrono::floor<Micros>(now() - outage_->since);
  return explain_outage(wanted_.name, outage_->error,
                        {.tried = std::chrono::floor<Micros>(now() - (give_up_at_ - wanted_.wait)),
                         .away = was_answered_ ? std::optional(for_so_long) : std::nullopt,
                         .queued = queued_});
}

Attempt::Verdict Attempt::judge(const Error& error) {
  const bool may_have_happened = error.code == Errc::outcome_unknown;
  const bool no_quorum = error.code == Errc::quorum_not_reached;
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
  if (!may_pass || !waits()) return std::unexpected(error);
  if (is_cut_short(error)) return std::unexpected(timed_out());
  note_failure(error);
  if (is_over()) return std::unexpected(away());
  core_->outages.tell(wanted_.name, *outage_, now());
  pause_ = next_delay(after_errors, failures_++, core_->runtime().random());
  return std::nullopt;
}

Attempt::Verdict Attempt::judge(const Notice& notice) {
  if (notice.store_changed) pair_.reset();
  if (notice.reason == Notice::Reason::granted) {
    if (const auto until = usable_at_once(pair_, notice.grant, now(), core_->drift())) {
      return Won{request_, notice.grant.fence, *until, now(), notice.grant.lease, listening_};
    }
    // Asking again confirms the claim, and the reply to that can be trusted.
    return std::nullopt;
  }
  if (!is_over()) return std::nullopt;
  // Not that it was held, but that the store could not say so.
  if (outage_) return std::unexpected(away());
  return std::unexpected(timed_out());
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

// The error is what the store said last; in the end that may be how it takes the withdrawal.
Task<Result<Won>> Attempt::give_up(Error error) {
  if (may_be_in_store_) {
    const LocalTime began = now();
    auto withdrawing = withdraw(core_, wanted_.name, withdrawal(), wanted_.ttl);
    const Result<void> withdrawn = co_await std::move(withdrawing);
    const bool is_refused =
        !withdrawn && withdrawn.error().code == Errc::unavailable && now() < began + prompt_timeout;
    // The store went away since it last answered, which may be seconds ago.
    if (is_refused && error.code == Errc::timed_out) {
      outage_.emplace(Outage{.error = withdrawn.error(), .since = began});
      error = away();
    }
  }
  co_return std::unexpected(std::move(error));
}

}  // namespace

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
