// SPDX-License-Identifier: Apache-2.0
//
// /v1/idempotency/{key}: something that should happen once, for programs that have no store of
// their own. The caller does the work between `begin` and `complete`.
#include "recipes/idempotency.hpp"

#include "runtime/spawn.hpp"
#include "server/endpoints/v1/run_order.hpp"
#include "server/http/answer.hpp"
#include "server/http/call.hpp"
#include "server/http/fields.hpp"
#include "server/journal.hpp"
#include "server/locks/waiting_room.hpp"
#include "server/metrics/metrics.hpp"
#include "server/runs/run_access.hpp"
#include "server/runs/run_answer.hpp"
#include "server/services.hpp"

#include <fmt/format.h>

#include <array>

namespace holdfast::server {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;
using RunVerb = model::RunCommand::Verb;

std::int64_t in_ms(Micros time) { return std::chrono::floor<milliseconds>(time).count(); }

bool may(const Call& call, RunVerb verb, const LockName& name) {
  return call.principal->may(needed_verb(verb, name.str()), name.str());
}

Response forbidden() {
  return answer(Problem{403, "forbidden", "your token does not cover this key"});
}

Response nothing_known(const LockName& name) {
  return answer(Error{Errc::not_held, fmt::format("nothing is known of '{}'", name.str())});
}

Response refuse(const LockName& name, const model::RunOutcome& outcome) {
  const auto why = why_no_run(fmt::format("'{}'", name.str()), outcome);
  json::object more{{"key", name.str()}};
  if (outcome.found == RunFound::failed) more["failure"] = outcome.failure;
  if (why.retry_after == Micros::zero()) return answer(why.problem, std::move(more));
  more["retry_after_ms"] = std::chrono::ceil<milliseconds>(why.retry_after).count();
  auto response = answer(why.problem, std::move(more));
  set_retry_after(response, why.retry_after);
  return response;
}

Response with_answer(json::object head, const Answer& kept) {
  return {.status = 200, .body = with_field(head, "result", to_json(kept))};
}

Response replay(const LockName& name, const model::RunOutcome& outcome) {
  auto response = with_answer({{"key", name.str()},
                               {"state", "replay"},
                               {"fence", outcome.fence},
                               {"expires_in_ms", in_ms(outcome.remaining)}},
                              outcome.answer);
  response.headers.emplace_back("Idempotency-Replayed", "true");
  return response;
}

Response fresh(const BeginOrder& order, const model::RunOutcome& outcome, Micros waited) {
  return answer(200, {{"key", order.name.str()},
                      {"state", "fresh"},
                      {"owner", order.terms.owner},
                      {"fence", outcome.fence},
                      {"taken_over", outcome.found == RunFound::abandoned},
                      {"guard_ms", in_ms(outcome.remaining)},
                      {"waited_ms", in_ms(waited)}});
}

void note_begun(Services& services, const Who& who, const BeginOrder& order,
                const model::RunOutcome& outcome) {
  const auto& name = order.name.str();
  services.metrics().runs.times.taken(name, order.terms.owner, outcome.fence,
                                      services.core().runtime().now());
  if (outcome.found == RunFound::abandoned) {
    services.journal.note(who, "run_taken_over", name, "");
  }
}

// A caller that left before it was told that the run is its own will not run: nothing is left
// behind. One that brought its own owner finds the run again when it asks again.
std::move_only_function<void()> take_back(const std::shared_ptr<client::Core>& core,
                                          const BeginOrder& order) {
  if (order.terms.is_owner_known) return {};
  return [core, name = order.name, word = order.terms.take_back()] {
    runtime::spawn(recipes::say_last_word(core, name, word));
  };
}

Error why_stopped(const Services& services, const Error& error) {
  const bool is_ours = error.code == Errc::cancelled && services.is_draining;
  if (!is_ours) return error;
  return {Errc::unavailable, "the server is shutting down; ask another one"};
}

Task<Response> begin_later(Services& services, Who who, BeginOrder order,
                           std::optional<WaitingRoom::Ticket> place, std::stop_token stop) {
  const auto core = services.shared_core();
  const auto asked_at = core->runtime().now();
  auto beginning = recipes::begin_run(core, order.name, order.terms, order.wait, std::move(stop));
  const Result<recipes::Beginning> begun = co_await std::move(beginning);
  place.reset();
  if (!begun) co_return answer(why_stopped(services, begun.error()));
  const auto& outcome = begun->outcome;
  count_begin(services.metrics().runs, outcome);
  const auto waited = std::chrono::floor<Micros>(core->runtime().now() - asked_at);
  Response response = outcome.done                           ? fresh(order, outcome, waited)
                      : outcome.found == RunFound::completed ? replay(order.name, outcome)
                                                             : refuse(order.name, outcome);
  response.has_waited = order.wait > Micros::zero();
  if (outcome.done) {
    note_begun(services, who, order, outcome);
    response.undelivered = take_back(core, order);
  }
  co_return response;
}

Task<Response> begin_run(const Call& call) {
  auto order = parse_begin(call);
  if (!order) return done(answer(order.error()));
  if (!may(call, RunVerb::begin, order->name)) return done(forbidden());
  std::optional<WaitingRoom::Ticket> place;
  if (order->wait > Micros::zero()) {
    auto entered = call.services.waiting.enter(fmt::format("run of {}", order->name.str()), 0);
    if (!entered) return done(answer(entered.error()));
    place.emplace(std::move(*entered));
  }
  return begin_later(call.services, call.who(), std::move(*order), std::move(place),
                     call.request.stop());
}

std::string_view state_after(RunVerb verb) {
  switch (verb) {
    case RunVerb::complete: return "completed";
    case RunVerb::fail: return "failed";
    case RunVerb::abandon: return "abandoned";
    default: return "in_progress";
  }
}

void note_word(Services& services, const Word& word) {
  if (word.command.verb == RunVerb::renew) return;
  auto& runs = services.metrics().runs;
  const auto took =
      runs.times.released(word.name.str(), word.command.owner, services.core().runtime().now());
  if (took) runs.time.add(took->time);
}

Task<Response> say_later(Services& services, Word word) {
  auto asking = recipes::ask_run(services.shared_core(), word.name, word.command, {});
  const Result<model::RunOutcome> outcome = co_await std::move(asking);
  if (!outcome) co_return answer(outcome.error());
  if (!outcome->done) co_return answer(recipes::explain_lost(word.name, *outcome));
  note_word(services, word);
  const auto verb = word.command.verb;
  json::object body{{"key", word.name.str()}, {"state", state_after(verb)}};
  if (outcome->fence != 0) body["fence"] = outcome->fence;
  if (verb == RunVerb::complete) body["expires_in_ms"] = in_ms(outcome->remaining);
  if (verb == RunVerb::renew) body["guard_ms"] = in_ms(outcome->remaining);
  co_return answer(200, body);
}

template <RunVerb verb>
Task<Response> say(const Call& call) {
  auto word = parse_word(call, verb);
  if (!word) return done(answer(word.error()));
  if (!may(call, verb, word->name)) return done(forbidden());
  return say_later(call.services, std::move(*word));
}

Response show(const LockName& name, const model::RunOutcome& outcome) {
  const bool runs = outcome.found == RunFound::in_progress;
  json::object body{{"key", name.str()},
                    {"state", to_string(outcome.found)},
                    {"fence", outcome.fence},
                    {runs ? "guard_ms" : "expires_in_ms", in_ms(outcome.remaining)}};
  if (outcome.found == RunFound::failed) body["failure"] = outcome.failure;
  if (outcome.found != RunFound::completed) return answer(200, body);
  return with_answer(std::move(body), outcome.answer);
}

Task<Response> look_later(Services& services, LockName name) {
  auto asking = recipes::ask_run(services.shared_core(), name, {.verb = RunVerb::look}, {});
  const Result<model::RunOutcome> outcome = co_await std::move(asking);
  if (!outcome) co_return answer(outcome.error());
  if (outcome->found == RunFound::nothing) co_return nothing_known(name);
  co_return show(name, *outcome);
}

Task<Response> look(const Call& call) {
  auto name = recipes::run_name(call.parameters[0]);
  if (!name) return done(answer(name.error()));
  if (!may(call, RunVerb::look, *name)) return done(forbidden());
  return look_later(call.services, std::move(*name));
}

Task<Response> forget_later(Services& services, Who who, LockName name, std::string reason) {
  auto asking = recipes::ask_run(services.shared_core(), name, {.verb = RunVerb::forget}, {});
  const Result<model::RunOutcome> outcome = co_await std::move(asking);
  if (!outcome) co_return answer(outcome.error());
  if (!outcome->done) co_return nothing_known(name);
  services.journal.note(who, "run_forgotten", name.str(), reason);
  co_return answer(200, {{"key", name.str()}, {"was", to_string(outcome->found)}});
}

Task<Response> forget_run(const Call& call) {
  auto name = recipes::run_name(call.parameters[0]);
  if (!name) return done(answer(name.error()));
  const auto body = call.body();
  if (!body) return done(answer(body.error()));
  Fields fields(*body);
  std::string reason(fields.needed_text("reason", max_metadata_bytes));
  if (auto good = fields.done(); !good) return done(answer(good.error()));
  if (!may(call, RunVerb::forget, *name)) return done(forbidden());
  return forget_later(call.services, call.who(), std::move(*name), std::move(reason));
}

constexpr std::array idempotency_table{
    Route{Method::post, "/v1/idempotency/{key}/begin", Access::lock, begin_run},
    Route{Method::post, "/v1/idempotency/{key}/renew", Access::lock, say<RunVerb::renew>},
    Route{Method::post, "/v1/idempotency/{key}/complete", Access::lock, say<RunVerb::complete>},
    Route{Method::post, "/v1/idempotency/{key}/fail", Access::lock, say<RunVerb::fail>},
    Route{Method::post, "/v1/idempotency/{key}/abandon", Access::lock, say<RunVerb::abandon>},
    Route{Method::get, "/v1/idempotency/{key}", Access::read, look},
    Route{Method::del, "/v1/idempotency/{key}", Access::admin, forget_run},
};

}  // namespace

extern const std::span<const Route> idempotency_routes;
const std::span<const Route> idempotency_routes = idempotency_table;

}  // namespace holdfast::server
