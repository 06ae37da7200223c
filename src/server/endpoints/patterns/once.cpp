// SPDX-License-Identifier: Apache-2.0
#include "server/endpoints/patterns/once.hpp"

#include "model/party.hpp"
#include "runtime/clock.hpp"
#include "server/endpoints/patterns/bodies.hpp"
#include "server/endpoints/patterns/kept_answer.hpp"
#include "server/endpoints/patterns/redlock.hpp"
#include "server/journal.hpp"
#include "server/log.hpp"
#include "server/metrics/metrics.hpp"
#include "server/runs/run_answer.hpp"
#include "server/services.hpp"
#include "server/under_way.hpp"

namespace holdfast::server::patterns {

namespace {

using recipes::Beginning;
using recipes::GuardedRun;

// The upstream did nothing, and says so. Every other answer of it may have done something.
constexpr int too_many_requests = 429;

// A key may be hard to guess on purpose, so that no answer repeats it.
Response refuse(const model::RunOutcome& outcome) {
  const auto why = why_no_run("the request of this Idempotency-Key", outcome);
  auto response = refused(why.problem);
  if (why.retry_after > Micros::zero()) set_retry_after(response, why.retry_after);
  return response;
}

Response cannot_begin(const Services& services, const Error& error) {
  const bool is_ours = error.code == Errc::cancelled && services.is_draining;
  return is_ours ? shutting_down() : refused(error);
}

model::RunCommand last_word(const recipes::RunTerms& terms, Effect effect,
                            const Response& response) {
  if (effect == Effect::unknown) return terms.abandon();
  if (effect == Effect::none || response.status == too_many_requests) {
    return terms.fail("it did not happen");
  }
  auto word = terms.complete(keep(response));
  // An upstream may answer what no record can hold, such as the status 777.
  return model::admissible(word) ? word : terms.abandon();
}

Response was_lost() {
  return failed(failed_operation, {Errc::lost,
                                   "the run of this Idempotency-Key was not renewed in time, and "
                                   "another may have it"});
}

// Ends the job when the run is no longer ours, or the server ends; not when the client leaves.
struct Leaving {
  Leaving(const GuardedRun& run, Services& services)
      : on_lost(run.lost(), Stop{&source}), on_end(services.ending.get_token(), Stop{&source}) {}

  struct Stop {
    std::stop_source* source;
    void operator()() const { source->request_stop(); }
  };
  std::stop_source source;
  std::stop_callback<Stop> on_lost;
  std::stop_callback<Stop> on_end;
};

Task<Response> perform_once(std::shared_ptr<GuardedRun> run, OnceOrder once, Job job) {
  auto& services = job.services;
  const auto core = services.shared_core();
  const runtime::LocalTime began = core->runtime().now();
  const Leaving leaving(*run, services);
  const auto effect = std::make_shared<Effect>(Effect::none);
  job.stop = leaving.source.get_token();
  job.effect = effect;
  job.order.operation.key = once.key;
  job.order.operation.takes_over = run->took_over();
  auto working = run_job(std::move(job));
  Response response = co_await std::move(working);
  // Before the last word: a renewal that comes after that finds nothing of ours.
  const bool is_lost = run->lost().stop_requested() && *effect != Effect::done;
  model::RunCommand word = last_word(once.terms, *effect, response);
  // While the store does not answer the run is renewed, and others are kept away. Not for longer
  // than the server itself lasts.
  auto saying =
      recipes::say_last_word(core, once.name, std::move(word), services.ending.get_token());
  const Result<void> said = co_await std::move(saying);
  services.metrics().runs.time.add(std::chrono::floor<Micros>(core->runtime().now() - began));
  if (!said) log(LogLevel::warning, "idempotency", {{"not_kept", said.error().message}});
  co_return is_lost ? was_lost() : std::move(response);
}

}  // namespace

Task<Response> run_job(Job job) {
  const auto& wanted = job.order.wanted;
  if (job.order.pattern.is_a_vote) return run_redlock(std::move(job));
  if (wanted.wait > Micros::zero()) {
    auto place =
        job.services.waiting.enter(wanted.name.str(), model::party_of(wanted.owner.view()));
    if (!place) return done(refused(place.error()));
    job.place.emplace(std::move(*place));
  }
  return run_single(std::move(job));
}

Task<Response> run_once(OnceOrder once, Job job) {
  auto& services = job.services;
  const UnderWay under_way(services);
  std::optional<WaitingRoom::Ticket> place;
  if (once.wait > Micros::zero()) {
    auto entered = services.waiting.enter(once.name.str(), 0);
    if (!entered) co_return refused(entered.error());
    place.emplace(std::move(*entered));
  }
  const auto core = services.shared_core();
  auto beginning = recipes::begin_run(core, once.name, once.terms, once.wait, job.stop);
  const Result<Beginning> begun = co_await std::move(beginning);
  place.reset();
  if (!begun) co_return cannot_begin(services, begun.error());
  const auto& outcome = begun->outcome;
  count_begin(services.metrics().runs, outcome);
  if (!outcome.done && outcome.found == RunFound::completed) co_return replay(outcome.answer);
  if (!outcome.done) co_return refuse(outcome);
  if (outcome.found == RunFound::abandoned) {
    services.journal.note(job.who, "run_taken_over", once.name.str(), "");
  }
  auto run = GuardedRun::start(core, once.name, once.terms, true, *begun);
  auto performing = perform_once(std::move(run), std::move(once), std::move(job));
  co_return co_await std::move(performing);
}

}  // namespace holdfast::server::patterns
