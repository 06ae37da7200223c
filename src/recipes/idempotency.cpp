// SPDX-License-Identifier: Apache-2.0
#include "recipes/idempotency.hpp"

#include "client/options_check.hpp"
#include "client/validity.hpp"
#include "model/utf8.hpp"
#include "runtime/backoff.hpp"
#include "runtime/event.hpp"
#include "runtime/spawn.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::recipes {

namespace {

using std::chrono::milliseconds;
using Verb = model::RunCommand::Verb;

constexpr runtime::Backoff after_failed_looks{.first = milliseconds(10), .cap = milliseconds(500)};
// Whoever waits asks again after this long, longer each time: most runs are short.
constexpr runtime::Backoff between_looks{.first = milliseconds(10), .cap = milliseconds(250)};
// How long a last word is repeated: others cannot go on before the guard ends anyway.
constexpr Micros last_word_timeout = std::chrono::seconds(10);

// It may have happened, on a server that could be replaced by one that does not know.
bool may_have_happened(const Error& error) {
  return error.code == Errc::outcome_unknown || error.code == Errc::not_replicated;
}

Micros whole_ms(Micros time) { return std::chrono::ceil<milliseconds>(time); }

Result<model::RunOutcome> understood(Result<store::Reply> reply) {
  if (!reply) return std::unexpected(std::move(reply.error()));
  return std::get<model::RunOutcome>(std::move(reply->outcome));
}

Task<Result<model::RunOutcome>> understood_later(Task<Result<store::Reply>> asking) {
  Result<store::Reply> reply = co_await std::move(asking);
  co_return understood(std::move(reply));
}

// Whether waiting may bring something better. A run that is under way may end, one that was
// abandoned under TakeOver::refuse will not.
bool is_worth_waiting(const Result<model::RunOutcome>& answer) {
  if (!answer) return may_pass(answer.error());
  return !answer->done && answer->found == RunFound::in_progress;
}

// Not from an owner that may come back for it.
void take_back(const std::shared_ptr<client::Core>& core, const LockName& name,
               const RunTerms& terms) {
  if (terms.is_owner_known) return;
  runtime::spawn(say_last_word(core, name, terms.take_back()));
}

}  // namespace

Error explain_lost(const LockName& name, const model::RunOutcome& outcome) {
  const auto now = [&]() -> std::string_view {
    switch (outcome.found) {
      case RunFound::in_progress: return "somebody else runs it now";
      case RunFound::completed: return "somebody else has completed it";
      case RunFound::failed: return "it was declared failed";
      case RunFound::abandoned: return "somebody else took over, and was not heard of again";
      case RunFound::nothing:
      case RunFound::mismatch: return "nothing is known of it any more";
    }
    std::unreachable();
  };
  return {Errc::lost, fmt::format("the run of '{}' was lost: {}", name.str(), now())};
}

bool may_pass(const Error& error) {
  return error.code == Errc::unavailable || may_have_happened(error);
}

Result<LockName> run_name(std::string_view key) {
  if (key.size() > max_run_key_bytes) {
    return fail(Errc::bad_input, fmt::format("key: must be at most {} bytes long; got {}",
                                             max_run_key_bytes, key.size()));
  }
  auto name = LockName::make(key);
  if (!name) {
    // It speaks of a name; here it is a key.
    const std::string_view message = name.error().message;
    const auto rule = message.starts_with("name") ? message.substr(4) : message;
    return fail(Errc::bad_input, fmt::format("key{}", rule));
  }
  return name;
}

model::RunCommand RunTerms::begin() const {
  return {.verb = Verb::begin,
          .owner = owner,
          .fingerprint = fingerprint,
          .guard = guard,
          .keep = ttl,
          .takes_over = takes_over};
}

model::RunCommand RunTerms::renew() const {
  return {.verb = Verb::renew, .owner = owner, .guard = guard};
}

model::RunCommand RunTerms::complete(Answer answer) const {
  return {.verb = Verb::complete,
          .owner = owner,
          .fingerprint = fingerprint,
          .keep = ttl,
          .answer = std::move(answer)};
}

model::RunCommand RunTerms::fail(std::string_view why) const {
  return {.verb = Verb::fail,
          .owner = owner,
          .keep = keep_failure,
          .failure = model::mended(why, max_failure_bytes)};
}

model::RunCommand RunTerms::abandon() const { return {.verb = Verb::abandon, .owner = owner}; }

model::RunCommand RunTerms::take_back() const { return {.verb = Verb::fail, .owner = owner}; }

Result<RunTerms> make_terms(const client::Core& core, const IdempotencyOptions& options) {
  if (auto good = client::check_wait(options.wait); !good) {
    return std::unexpected(std::move(good.error()));
  }
  RunTerms terms{.owner = core.fresh_owner().str(),
                 .fingerprint = std::string(options.fingerprint),
                 .guard = whole_ms(options.guard),
                 .ttl = whole_ms(options.ttl),
                 .keep_failure = whole_ms(options.keep_failure),
                 .takes_over = options.take_over == TakeOver::run};
  for (const auto& command : {terms.begin(), terms.fail("")}) {
    if (auto good = model::admissible(command); !good)
      return std::unexpected(std::move(good.error()));
  }
  return terms;
}

Task<Result<model::RunOutcome>> ask_run(std::shared_ptr<client::Core> core, LockName name,
                                        model::RunCommand command, std::stop_token stop) {
  store::Request request{.name = std::move(name),
                         .command = std::move(command),
                         .deadline = core->runtime().now() + client::command_timeout,
                         .stop = std::move(stop)};
  auto asking = core->store().apply(std::move(request));
  if (asking.is_ready()) {
    return Task<Result<model::RunOutcome>>(understood(asking.take_ready()));
  }
  return understood_later(std::move(asking));
}

Task<Result<Beginning>> begin_run(std::shared_ptr<client::Core> core, LockName name, RunTerms terms,
                                  Micros wait, std::stop_token stop) {
  const auto alarm = std::make_shared<runtime::Event>(core->shared_runtime());
  // From the runtime's thread, because this resumes the coroutine, which may end inside of it.
  const std::stop_callback on_stop(
      stop, [&core, alarm] { core->runtime().post([alarm] { alarm->notify(); }); });
  const LocalTime give_up_at = core->runtime().now() + wait;
  unsigned looks = 0;
  bool may_have_begun = false;
  while (true) {
    if (stop.stop_requested()) {
      if (may_have_begun) take_back(core, name, terms);
      co_return fail(Errc::cancelled, fmt::format("waiting for '{}' was cancelled", name.str()));
    }
    const LocalTime before_send = core->runtime().now();
    auto asking = ask_run(core, name, terms.begin(), stop);
    Result<model::RunOutcome> answer = co_await std::move(asking);
    // An older copy may still be on its way when somebody else's run is found.
    if (!answer && may_have_happened(answer.error())) may_have_begun = true;
    if (answer && answer->done) may_have_begun = false;
    const LocalTime now = core->runtime().now();
    if (!is_worth_waiting(answer) || now >= give_up_at) {
      if (may_have_begun) take_back(core, name, terms);
      if (!answer) co_return std::unexpected(std::move(answer.error()));
      const auto until =
          client::valid_until(before_send, std::min(answer->remaining, terms.guard), core->drift());
      co_return Beginning{std::move(*answer), until};
    }
    const auto& backoff = answer ? between_looks : after_failed_looks;
    const auto delay = runtime::next_delay(backoff, looks++, core->runtime().random());
    co_await alarm->wait_until(std::min<LocalTime>(now + delay, give_up_at));
  }
}

Task<Result<void>> say_last_word(std::shared_ptr<client::Core> core, LockName name,
                                 model::RunCommand command, std::stop_token stop) {
  const auto pause = std::make_shared<runtime::Event>(core->shared_runtime());
  const LocalTime give_up_at = core->runtime().now() + last_word_timeout;
  for (unsigned failures = 0;; ++failures) {
    auto asking = ask_run(core, name, command, {});
    Result<model::RunOutcome> answer = co_await std::move(asking);
    if (answer && answer->done) co_return Result<void>{};
    if (answer) co_return std::unexpected(explain_lost(name, *answer));
    const LocalTime now = core->runtime().now();
    if (!may_pass(answer.error()) || stop.stop_requested() || now >= give_up_at) {
      co_return std::unexpected(std::move(answer.error()));
    }
    const auto delay = runtime::next_delay(after_failed_looks, failures, core->runtime().random());
    co_await pause->wait_until(std::min<LocalTime>(now + delay, give_up_at));
  }
}

Once describe(const model::RunOutcome& outcome) {
  const auto ending = [&] {
    switch (outcome.found) {
      case RunFound::completed: return Ending::replayed;
      case RunFound::failed: return Ending::failed_before;
      case RunFound::mismatch: return Ending::mismatch;
      case RunFound::in_progress: return Ending::in_progress;
      case RunFound::abandoned:
      case RunFound::nothing: return Ending::unknown;
    }
    std::unreachable();
  };
  Once once{.ending = ending(),
            .answer = outcome.answer,
            .failure = outcome.failure,
            .fence = outcome.fence};
  if (once.ending == Ending::in_progress) once.retry_after = outcome.remaining;
  return once;
}

}  // namespace holdfast::recipes
