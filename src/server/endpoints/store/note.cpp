// SPDX-License-Identifier: Apache-2.0
#include "server/endpoints/store/note.hpp"

#include "backends/remote/json_reader.hpp"
#include "model/limit_name.hpp"
#include "model/party.hpp"
#include "server/http/rate_access.hpp"
#include "server/journal.hpp"
#include "server/metrics/metrics.hpp"
#include "server/runs/run_answer.hpp"
#include "server/services.hpp"
#include "server/store_streams.hpp"

namespace holdfast::server::store_api {

namespace {

using backends::remote::Question;

// One outcome of one command, as the journal tells it.
class Note {
 public:
  Note(Services& services, const Who& who, const Question& question,
       const model::LockOutcome& outcome)
      : services_(services), who_(who), question_(question), outcome_(outcome) {}

  void operator()(const model::Acquire& verb) const {
    const auto* queued = std::get_if<model::Queued>(&outcome_);
    if (queued != nullptr) {
      // A waiter that asks again has its place already.
      if (verb.place == 0) record(EventType::queued, verb, nullptr);
      return;
    }
    forget(verb.request);
    if (const auto* granted = std::get_if<model::Granted>(&outcome_)) {
      begin_hold(verb.owner, granted->fence);
      record(EventType::acquired, verb, granted);
    }
  }
  void operator()(const model::Renew& verb) const {
    const auto* granted = std::get_if<model::Granted>(&outcome_);
    const auto waiter = forget(verb.request);
    if (granted == nullptr) return;
    if (waiter) return record_won(*waiter, granted);
    record({.type = EventType::renewed, .fence = granted->fence, .remaining = granted->remaining});
  }
  void operator()(const model::Release& verb) const {
    const auto waiter = forget(verb.request);
    const auto* released = std::get_if<model::Released>(&outcome_);
    if (released == nullptr) return;
    // Handed over, used and given back before it was ever confirmed.
    if (waiter && released->lease) record_won(*waiter, nullptr);
    auto& metrics = services_.metrics();
    const auto held = metrics.holds.released(question_.name.str(), verb.owner.view(), now());
    if (!released->lease || !held) {
      return record({.type = released->lease ? EventType::released : EventType::left,
                     .party = model::party_of(verb.owner.view())});
    }
    metrics.hold_time.add(held->time);
    record({.type = EventType::released, .fence = held->fence, .held = held->time});
  }
  void operator()(const model::ForceRelease&) const {
    const auto* forced = std::get_if<model::Forced>(&outcome_);
    if (forced == nullptr || forced->count == 0) return;
    record({.type = EventType::forced, .fence = forced->fence, .reason = "through a remote store"});
  }
  void operator()(const model::Inspect&) const {}

 private:
  std::optional<StoreStreams::Waiter> forget(model::RequestId request) const {
    if (question_.stream.empty() || !who_.principal) return std::nullopt;
    return services_.store_streams.forget(question_.stream, *who_.principal, request);
  }
  void record(Happening happening) const {
    happening.name = question_.name.str();
    services_.journal.record(who_, happening);
  }
  // `granted` is null for whoever waits, and where it was never told.
  void record(EventType type, const model::Acquire& verb, const model::Granted* granted) const {
    Happening happening{.type = type,
                        .kind = std::get<model::LockCommand>(question_.command).spec.kind,
                        .permits = verb.permits,
                        .metadata = verb.metadata,
                        .party = model::party_of(verb.owner.view())};
    record_granted(std::move(happening), granted);
  }
  void record_won(const StoreStreams::Waiter& waiter, const model::Granted* granted) const {
    if (granted != nullptr) begin_hold(waiter.owner, granted->fence);
    Happening happening{.type = EventType::acquired,
                        .kind = waiter.kind,
                        .permits = waiter.permits,
                        .metadata = waiter.metadata,
                        .party = model::party_of(waiter.owner.view())};
    record_granted(std::move(happening), granted);
  }
  void record_granted(Happening happening, const model::Granted* granted) const {
    if (granted != nullptr) {
      happening.fence = granted->fence;
      happening.remaining = granted->remaining;
    }
    record(std::move(happening));
  }
  // So that its end can be told with its fence, which a release does not name.
  void begin_hold(const OwnerId& owner, Fence fence) const {
    services_.metrics().holds.taken(question_.name.str(), owner.view(), fence, now());
  }
  runtime::LocalTime now() const { return services_.core().runtime().now(); }

  Services& services_;
  const Who& who_;
  const Question& question_;
  const model::LockOutcome& outcome_;
};

// Begins in the metrics; whatever somebody took from another in the audit trail.
void note_run(Services& services, const Who& who, const Question& question,
              const model::RunCommand& command, const Result<store::Reply>& reply) {
  if (!reply) return;
  const auto& outcome = std::get<model::RunOutcome>(reply->outcome);
  const auto& key = question.name.str();
  if (command.verb == model::RunCommand::Verb::begin) {
    count_begin(services.metrics().runs, outcome);
    const bool took_over = outcome.done && outcome.found == RunFound::abandoned;
    if (took_over) services.journal.note(who, "run_taken_over", key, "");
  }
  if (command.verb == model::RunCommand::Verb::forget && outcome.done) {
    services.journal.note(who, "run_forgotten", key, to_string(outcome.found));
  }
}

Result<RateOutcome> rate_outcome(const Result<store::Reply>& reply) {
  if (!reply) return std::unexpected(reply.error());
  return std::get<RateOutcome>(reply->outcome);
}

}  // namespace

void note(Services& services, const Who& who, const Question& question,
          const Result<store::Reply>& reply) {
  if (const auto* rate = std::get_if<model::RateCommand>(&question.command)) {
    const auto counted = model::counted_under(question.name, rate->rule).value();
    return note_rate(services, who, counted, *rate, rate_outcome(reply));
  }
  if (const auto* run = std::get_if<model::RunCommand>(&question.command)) {
    return note_run(services, who, question, *run, reply);
  }
  const auto* command = std::get_if<model::LockCommand>(&question.command);
  // An error may have left the waiter in the queue.
  if (command == nullptr || !reply) return;
  const auto& outcome = std::get<model::LockOutcome>(reply->outcome);
  std::visit(Note(services, who, question, outcome), command->verb);
}

Result<ForgetOrder> parse_forget(const Call& call) {
  const auto body = call.body();
  if (!body) return std::unexpected(body.error());
  backends::remote::JsonReader reader(*body);
  ForgetOrder order{reader.text("stream"), model::RequestId{reader.number("request")}};
  if (auto good = reader.done(); !good) return std::unexpected(std::move(good.error()));
  return order;
}

}  // namespace holdfast::server::store_api
