// SPDX-License-Identifier: Apache-2.0
#include "server/endpoints/patterns/operation.hpp"

#include "client/core.hpp"
#include "runtime/event.hpp"
#include "server/endpoints/patterns/bodies.hpp"
#include "server/services.hpp"
#include "server/upstreams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace holdfast::server::patterns {

namespace {

using net::http::ClientResponse;

// What describes the body, and where to go next; cookies and what belongs to the connection stay.
constexpr std::array<std::string_view, 6> passed_on{
    "Content-Type", "Content-Encoding", "Content-Language", "ETag", "Location", "Retry-After"};

Outcome::End end_of(const Leash& leash, LocalTime now) {
  if (leash.lost.stop_requested() || now >= leash.ends) return Outcome::End::lost;
  return leash.stop.stop_requested() ? Outcome::End::stopped : Outcome::End::done;
}

// From the runtime's thread, because this resumes the coroutine, which may end inside of it.
auto wake(const std::shared_ptr<runtime::Runtime>& runtime, std::shared_ptr<runtime::Event> alarm) {
  return [runtime, alarm = std::move(alarm)] { runtime->post([alarm] { alarm->notify(); }); };
}

Task<Outcome> hold(std::shared_ptr<runtime::Runtime> runtime, Micros duration, Leash leash) {
  const auto alarm = std::make_shared<runtime::Event>(runtime);
  const std::stop_callback on_lost(leash.lost, wake(runtime, alarm));
  const std::stop_callback on_stop(leash.stop, wake(runtime, alarm));
  const LocalTime began = runtime->now();
  const LocalTime until = std::min<LocalTime>(began + duration, leash.ends);
  LocalTime now = began;
  while (now < until && end_of(leash, now) == Outcome::End::done) {
    co_await alarm->wait_until(until);
    now = runtime->now();
  }
  const auto end = end_of(leash, now);
  // Who has not held to the end can begin again without harm.
  const auto effect = end == Outcome::End::done ? Effect::done : Effect::none;
  co_return Outcome{.end = end, .effect = effect, .took = std::chrono::floor<Micros>(now - began)};
}

Response pass_on(ClientResponse answer, Fence fence) {
  Response response{.status = answer.status, .content_type = {}, .body = std::move(answer.body)};
  for (const auto name : passed_on) {
    const auto value = answer.header(name);
    if (!value.empty()) response.headers.emplace_back(name, value);
  }
  response.headers.emplace_back("Holdfast-Fence", std::to_string(fence));
  return response;
}

UpstreamCall call_of(const Operation& operation, const Ticket& ticket) {
  UpstreamCall call{.method = operation.method, .body = operation.body};
  call.headers.emplace_back("Holdfast-Fence", std::to_string(ticket.fence));
  call.headers.emplace_back("Holdfast-Resource", ticket.resource);
  if (!operation.key.empty()) call.headers.emplace_back("Idempotency-Key", operation.key);
  if (operation.takes_over) call.headers.emplace_back("Holdfast-Taken-Over", "true");
  if (!call.body.empty()) call.headers.emplace_back("Content-Type", "application/json");
  return call;
}

Task<Outcome> call_upstream(Services& services, Operation operation, Ticket ticket, Leash leash) {
  const auto runtime = services.core().shared_runtime();
  std::stop_source cancel;
  const auto end_it = [runtime, cancel] {
    runtime->post([cancel]() mutable { cancel.request_stop(); });
  };
  const std::stop_callback on_lost(leash.lost, end_it);
  const std::stop_callback on_stop(leash.stop, end_it);
  const LocalTime began = runtime->now();
  UpstreamCall call = call_of(operation, ticket);
  call.deadline = std::min(leash.answer_by, leash.ends);
  call.stop = cancel.get_token();
  auto sending = services.upstreams.send(operation.upstream, std::move(call));
  Result<ClientResponse> answer = co_await std::move(sending);
  const LocalTime now = runtime->now();
  Outcome outcome{.end = end_of(leash, now), .took = std::chrono::floor<Micros>(now - began)};
  if (answer) {
    // Whether it was still alone then nobody knows.
    outcome.effect = outcome.end == Outcome::End::done ? Effect::done : Effect::unknown;
    outcome.answer = pass_on(std::move(*answer), ticket.fence);
  } else {
    if (answer.error().code == Errc::outcome_unknown) outcome.effect = Effect::unknown;
    const int status = now >= leash.answer_by ? 504 : 502;
    outcome.answer = upstream_failed(
        status, fmt::format("'{}': {}", operation.upstream, answer.error().message));
  }
  co_return outcome;
}

}  // namespace

Task<Outcome> perform(Services& services, Operation operation, Ticket ticket, Leash leash) {
  if (operation.upstream.empty()) {
    return hold(services.core().shared_runtime(), operation.duration, std::move(leash));
  }
  return call_upstream(services, std::move(operation), std::move(ticket), std::move(leash));
}

}  // namespace holdfast::server::patterns
