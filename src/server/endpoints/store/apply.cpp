// SPDX-License-Identifier: Apache-2.0
//
// POST /v1/store/apply: one step of the store, for a client that follows the protocol of
// src/client/ at its own end. Unlike in /v1/locks nothing is taken back from a caller that left: it
// repeats the same request, or releases it.
#include "client/core.hpp"
#include "model/limit_name.hpp"
#include "server/endpoints/store/note.hpp"
#include "server/endpoints/store/protocol.hpp"
#include "server/http/rate_access.hpp"
#include "server/runs/run_access.hpp"
#include "server/store_streams.hpp"

#include <algorithm>
#include <array>

namespace holdfast::server {
namespace {

using namespace store_api;

// Less than a server that stops waits for what is under way.
constexpr Micros longest_command = std::chrono::milliseconds(1500);

struct NeededVerb {
  Verb operator()(const model::Inspect&) const { return Verb::read; }
  Verb operator()(const model::ForceRelease&) const { return Verb::admin; }
  Verb operator()(const auto&) const { return Verb::lock; }
};

// What a token has to cover, and with which verb.
struct Needed {
  Verb verb = Verb::lock;
  std::string_view name;
};

Needed needed(const remote::Question& question) {
  if (const auto* rate = std::get_if<model::RateCommand>(&question.command)) {
    const auto counted = model::counted_under(question.name, rate->rule).value();
    return {needed_verb(rate->verb, counted), counted};
  }
  if (const auto* run = std::get_if<model::RunCommand>(&question.command)) {
    return {needed_verb(run->verb, question.name.str()), question.name.str()};
  }
  const auto* lock = std::get_if<model::LockCommand>(&question.command);
  return {lock != nullptr ? std::visit(NeededVerb{}, lock->verb) : Verb::lock, question.name.str()};
}

// Under another rule's name it could undo what that one has counted.
Result<void> check_name(const remote::Question& question) {
  const auto* rate = std::get_if<model::RateCommand>(&question.command);
  if (rate == nullptr || model::counted_under(question.name, rate->rule)) return {};
  return fail(Errc::bad_input,
              "name: must be a scope with the algorithm, the window and the layout of its rule, "
              "such as api:sliding:1000000us");
}

Result<remote::Question> parse(const Call& call) {
  const auto body = call.body();
  if (!body) return std::unexpected(body.error());
  auto question = remote::parse_question(*body);
  if (!question) return question;
  if (auto good = model::admissible(question->command); !good) {
    return std::unexpected(std::move(good.error()));
  }
  if (auto good = check_name(*question); !good) return std::unexpected(std::move(good.error()));
  return question;
}

model::Acquire* waiter_in(remote::Question& question) {
  auto* lock = std::get_if<model::LockCommand>(&question.command);
  auto* acquire = lock != nullptr ? std::get_if<model::Acquire>(&lock->verb) : nullptr;
  return acquire != nullptr && acquire->wait && !question.stream.empty() ? acquire : nullptr;
}

// Listens before the command that queues. A refusal, or nothing.
std::optional<Response> listen_for(const Call& call, remote::Question& question) {
  auto* acquire = waiter_in(question);
  if (acquire == nullptr) return std::nullopt;
  auto& services = call.services;
  if (!services.store_streams.knows(question.stream, *call.principal)) {
    return signed_refusal(services, Problem{404, std::string(remote::unknown_stream),
                                            "stream: it has ended; open another one"});
  }
  const auto& spec = std::get<model::LockCommand>(question.command).spec;
  auto ear = services.store_streams.listen(question.stream, {.name = question.name,
                                                             .owner = acquire->owner,
                                                             .request = acquire->request,
                                                             .kind = spec.kind,
                                                             .permits = acquire->permits,
                                                             .metadata = acquire->metadata});
  if (!ear) return signed_refusal(services, ear.error());
  acquire->process = ear->process;
  return std::nullopt;
}

Response encode(Services& services, const Who& who, const remote::Question& question,
                const Result<store::Reply>& reply) {
  note(services, who, question, reply);
  if (!reply) return signed_refusal(services, reply.error());
  return answer_json(services, remote::to_json(*reply));
}

Task<Response> finish(Services& services, Who who, remote::Question question,
                      Task<Result<store::Reply>> asking) {
  const Result<store::Reply> reply = co_await std::move(asking);
  co_return encode(services, who, question, reply);
}

Task<Response> apply(const Call& call) {
  auto& services = call.services;
  if (auto other = other_protocol(call)) return done(std::move(*other));
  auto question = parse(call);
  if (!question) return done(signed_refusal(services, question.error()));
  const auto [verb, name] = needed(*question);
  if (!call.principal->may(verb, name)) {
    return done(signed_refusal(
        services, Problem{403, "forbidden",
                          fmt::format("it has not the verb {} for this name", to_string(verb))}));
  }
  if (auto refused = listen_for(call, *question)) return done(std::move(*refused));
  auto& core = services.core();
  const auto time =
      question->timeout > Micros::zero() ? question->timeout : client::command_timeout;
  auto asking =
      core.store().apply({.name = question->name,
                          .command = question->command,
                          .deadline = core.runtime().now() + std::min(time, longest_command)});
  if (asking.is_ready()) {
    return done(encode(services, call.who(), *question, asking.take_ready()));
  }
  return finish(services, call.who(), std::move(*question), std::move(asking));
}

// POST /v1/store/forget
Task<Response> forget(const Call& call) {
  auto& services = call.services;
  if (auto other = other_protocol(call)) return done(std::move(*other));
  const auto order = parse_forget(call);
  if (!order) return done(signed_refusal(services, order.error()));
  const auto waiter = services.store_streams.forget(order->stream, *call.principal, order->request);
  return done(answer_json(services, {{"forgotten", waiter.has_value()}}));
}

constexpr std::array store_apply_table{
    // What each command needs beyond that depends on its verb and its name.
    Route{Method::post, "/v1/store/apply", Access::read, apply},
    Route{Method::post, "/v1/store/forget", Access::read, forget},
};

}  // namespace

extern const std::span<const Route> store_apply_routes;
const std::span<const Route> store_apply_routes = store_apply_table;

}  // namespace holdfast::server
