// SPDX-License-Identifier: Apache-2.0
#include "recipes/rate_limit.hpp"

#include <holdfast/client.hpp>

#include "client/options_check.hpp"
#include "client/pending.hpp"
#include "runtime/backoff.hpp"
#include "runtime/event.hpp"
#include "runtime/spawn.hpp"
#include "text/duration.hpp"
#include "text/rate.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::recipes {

namespace {

using std::chrono::milliseconds;

constexpr runtime::Backoff after_failed_checks{.first = milliseconds(10),
                                               .cap = std::chrono::seconds(1)};
// Those who were denied together do not come back together.
constexpr Micros max_jitter = milliseconds(100);

std::string ms_text(Micros time) {
  return text::format_duration(std::chrono::ceil<milliseconds>(time));
}

Result<RateOutcome> understood(const RateQuestion& question, Result<store::Reply> reply) {
  if (reply) return std::get<RateOutcome>(reply->outcome);
  auto& error = reply.error();
  const bool may_have_counted = error.code == Errc::outcome_unknown &&
                                question.command.verb == model::RateCommand::Verb::check;
  if (may_have_counted) {
    error.message =
        fmt::format("'{}': the answer was lost, and {} may have been counted: {}", question.scope,
                    question.command.cost == 1 ? "the hit" : "the hits", error.message);
  }
  return std::unexpected(std::move(error));
}

client::Span trace_check(client::Core& core, const RateQuestion& question) {
  if (!core.is_traced() || question.command.verb != model::RateCommand::Verb::check) return {};
  return core.span("rate_limit.check",
                   {{"rate_limit.scope", question.scope},
                    {"rate_limit.limit", std::int64_t{question.command.rule.limit}},
                    {"rate_limit.cost", std::int64_t{question.command.cost}}});
}

// What the client counts and its tracer is told of an answer, which goes on unchanged.
Result<RateOutcome> noted(client::Core& core, const RateQuestion& question, client::Span span,
                          Result<RateOutcome> answer) {
  if (!answer) {
    span.end({{"rate_limit.error", to_string(answer.error().code)}});
    return answer;
  }
  if (question.command.verb == model::RateCommand::Verb::check) {
    (answer->allowed ? core.counters().rate_allowed : core.counters().rate_denied).add();
  }
  span.end({{"rate_limit.allowed", answer->allowed},
            {"rate_limit.remaining", std::int64_t{answer->remaining}}});
  return answer;
}

Task<Result<RateOutcome>> understood_later(std::shared_ptr<client::Core> core,
                                           RateQuestion question, client::Span span,
                                           Task<Result<store::Reply>> asking) {
  Result<store::Reply> reply = co_await std::move(asking);
  co_return noted(*core, question, std::move(span), understood(question, std::move(reply)));
}

Error cancelled(const RateQuestion& question) {
  return {Errc::cancelled, fmt::format("waiting for '{}' was cancelled", question.scope)};
}

Result<RateOutcome> in_vain(const RateQuestion& question, const RateOutcome& outcome,
                            const TurnClock& clock) {
  auto why = explain_denied(question, outcome);
  if (clock.wait == Micros::zero()) return fail(Errc::busy, std::move(why));
  return fail(Errc::timed_out,
              fmt::format("{}, later than the {} of the wait", why, ms_text(clock.wait)));
}

}  // namespace

Result<RateQuestion> make_question(std::string_view scope, const model::RateCommand& command) {
  if (auto good = model::admissible(command); !good)
    return std::unexpected(std::move(good.error()));
  auto name = model::limit_name(scope, command.rule);
  if (!name) return std::unexpected(std::move(name.error()));
  return RateQuestion{std::string(scope), std::move(*name), command};
}

Task<Result<RateOutcome>> ask(std::shared_ptr<client::Core> core, RateQuestion question,
                              std::stop_token stop) {
  store::Request request{.name = question.name,
                         .command = question.command,
                         .deadline = core->runtime().now() + client::command_timeout,
                         .stop = std::move(stop)};
  auto span = trace_check(*core, question);
  auto asking = core->store().apply(std::move(request));
  if (asking.is_ready()) {
    return Task<Result<RateOutcome>>(
        noted(*core, question, std::move(span), understood(question, asking.take_ready())));
  }
  return understood_later(std::move(core), std::move(question), std::move(span), std::move(asking));
}

std::string explain_denied(const RateQuestion& question, const RateOutcome& outcome) {
  const auto cost = question.command.cost;
  return fmt::format(
      "'{}' allows {}, and {} left; {} allowed in {}", question.scope,
      text::format_rate(question.command.rule),
      outcome.remaining == 0 ? "nothing is" : fmt::format("{} of them are", outcome.remaining),
      cost == 1 ? "the next is" : fmt::format("{} are", cost), ms_text(outcome.retry_after));
}

NextStep after_answer(const RateQuestion& question, const Result<RateOutcome>& answer,
                      const TurnClock& clock) {
  if (!answer) {
    const auto code = answer.error().code;
    const bool may_pass = code == Errc::unavailable || code == Errc::quorum_not_reached;
    const bool is_over = clock.now >= clock.give_up_at;
    if (!may_pass || is_over) return answer;
    const Micros delay = runtime::next_delay(after_failed_checks, clock.failures, clock.random);
    return std::min<LocalTime>(clock.now + delay, clock.give_up_at);
  }
  if (answer->allowed) return answer;
  const LocalTime due = clock.now + answer->retry_after;
  if (due > clock.give_up_at || clock.wait == Micros::zero()) {
    return in_vain(question, *answer, clock);
  }
  const auto spread = std::min(answer->retry_after / 8, max_jitter).count();
  const Micros jitter(clock.random % static_cast<std::uint64_t>(spread + 1));
  return std::min<LocalTime>(due + jitter, clock.give_up_at);
}

Task<Result<RateOutcome>> take_turn(std::shared_ptr<client::Core> core, RateQuestion question,
                                    Micros wait, std::stop_token stop) {
  const auto alarm = std::make_shared<runtime::Event>(core->shared_runtime());
  // From the runtime's thread, because this resumes the coroutine, which may end inside of it.
  const std::stop_callback on_stop(
      stop, [&core, alarm] { core->runtime().post([alarm] { alarm->notify(); }); });
  TurnClock clock{.give_up_at = core->runtime().now() + wait, .wait = wait};
  while (true) {
    if (stop.stop_requested()) co_return std::unexpected(cancelled(question));
    auto asking = ask(core, question, stop);
    const Result<RateOutcome> answer = co_await std::move(asking);
    clock.now = core->runtime().now();
    clock.random = core->runtime().random();
    const NextStep next = after_answer(question, answer, clock);
    if (const auto* result = std::get_if<Result<RateOutcome>>(&next)) co_return *result;
    clock.failures = answer ? 0 : clock.failures + 1;
    co_await alarm->wait_until(std::get<LocalTime>(next));
  }
}

Result<RateOutcome> RateHandle::ask_blocking(model::RateCommand::Verb verb,
                                             std::uint32_t cost) const {
  if (auto good = core_->may_block(); !good) return std::unexpected(std::move(good.error()));
  auto asked = question(verb, cost);
  if (!asked) return std::unexpected(std::move(asked.error()));
  return runtime::run_blocking(ask(core_, std::move(*asked), {}));
}

}  // namespace holdfast::recipes

namespace holdfast {

namespace {

using Outcome = Result<RateOutcome>;
using Verb = model::RateCommand::Verb;

Task<Outcome> refused(Error error) { return Task<Outcome>(std::unexpected(std::move(error))); }

// Checked first: a wait that is too long is refused, whatever the store says.
Result<recipes::RateQuestion> question_with_wait(const recipes::RateHandle& handle, Duration wait,
                                                 std::uint32_t cost) {
  if (auto good = client::check_wait(wait); !good) return std::unexpected(std::move(good.error()));
  return handle.question(Verb::check, cost);
}

}  // namespace

RateLimit Client::rate_limit(std::string_view scope, const RateRule& rule) const {
  return RateLimit(std::make_shared<const recipes::RateHandle>(core_, scope, rule));
}

Outcome RateLimit::check(std::uint32_t cost) const {
  return handle_->ask_blocking(Verb::check, cost);
}

Outcome RateLimit::peek(std::uint32_t cost) const {
  return handle_->ask_blocking(Verb::peek, cost);
}

Result<void> RateLimit::reset() const {
  if (auto done = handle_->ask_blocking(Verb::reset, 1); !done) {
    return std::unexpected(std::move(done.error()));
  }
  return {};
}

Outcome RateLimit::take(Duration wait, std::uint32_t cost, std::stop_token stop) const {
  const auto& core = handle_->core();
  if (auto good = core->may_block(); !good) return std::unexpected(std::move(good.error()));
  auto question = question_with_wait(*handle_, wait, cost);
  if (!question) return std::unexpected(std::move(question.error()));
  return runtime::run_blocking(
      recipes::take_turn(core, std::move(*question), wait, std::move(stop)));
}

Task<Outcome> RateLimit::async_check(std::uint32_t cost, std::stop_token stop) const {
  const auto& core = handle_->core();
  if (!core->is_ours()) return refused(core->may_block().error());
  auto question = handle_->question(Verb::check, cost);
  if (!question) return refused(std::move(question.error()));
  return client::start_when_awaited<Outcome>(
      core->shared_runtime(),
      [core = handle_->core(), question = std::move(*question)](std::stop_token token) mutable {
        return recipes::ask(std::move(core), std::move(question), std::move(token));
      },
      std::move(stop));
}

Task<Outcome> RateLimit::async_take(Duration wait, std::uint32_t cost, std::stop_token stop) const {
  const auto& core = handle_->core();
  if (!core->is_ours()) return refused(core->may_block().error());
  auto question = question_with_wait(*handle_, wait, cost);
  if (!question) return refused(std::move(question.error()));
  return client::start_when_awaited<Outcome>(
      core->shared_runtime(),
      [core = handle_->core(), question = std::move(*question),
       wait](std::stop_token token) mutable {
        return recipes::take_turn(std::move(core), std::move(question), wait, std::move(token));
      },
      std::move(stop));
}

}  // namespace holdfast
