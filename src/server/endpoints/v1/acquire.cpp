// SPDX-License-Identifier: Apache-2.0
//
// POST /v1/locks/{name}/acquire
#include "server/endpoints/v1/encode.hpp"
#include "server/http/call.hpp"
#include "server/locks/order.hpp"
#include "server/services.hpp"

#include <fmt/format.h>

#include <array>

namespace holdfast::server {
namespace {

// Everything an acquire needs once the request is gone.
struct Acquire {
  Services& services;
  Who who;
  client::Wanted wanted;
  WaitingRoom::Ticket ticket{};
};

void record(Services& services, const Who& who, const client::Wanted& wanted, EventType type,
            std::optional<Fence> fence) {
  services.journal.record(who, {.type = type,
                                .name = wanted.name.str(),
                                .fence = fence,
                                .kind = wanted.spec.kind,
                                .permits = wanted.permits,
                                .metadata = wanted.metadata});
}

Response encode(Services& services, const Who& who, const client::Wanted& wanted,
                const TakeResult& result) {
  if (!result) return refusal(result.error(), wanted.spec.kind);
  record(services, who, wanted, EventType::acquired, result->fence);
  return answer(200, lease_json(wanted.name.str(), wanted.owner.view(), *result));
}

// A caller that left while it was granted the lock will not release it: we do.
void take_back_if_undelivered(Response& response, const Acquire& acquire) {
  response.undelivered = [core = acquire.services.shared_core(), wanted = acquire.wanted] {
    give_back(core, wanted);
  };
}

Task<Response> at_once(Acquire acquire) {
  auto taking = take_at_once(acquire.services.shared_core(), acquire.wanted);
  const TakeResult result = co_await std::move(taking);
  Response response = encode(acquire.services, acquire.who, acquire.wanted, result);
  if (result) take_back_if_undelivered(response, acquire);
  co_return response;
}

Task<Response> waiting(Acquire acquire, std::stop_token stop) {
  record(acquire.services, acquire.who, acquire.wanted, EventType::queued, std::nullopt);
  auto taking = take_waiting(acquire.services.shared_core(), acquire.wanted, stop);
  TakeResult result = co_await std::move(taking);
  if (result && stop.stop_requested()) {
    give_back(acquire.services.shared_core(), acquire.wanted);
    result = std::unexpected(NotTaken{Error{Errc::cancelled, "the caller left"}});
  }
  if (!result) record(acquire.services, acquire.who, acquire.wanted, EventType::left, std::nullopt);
  const bool shuts_down = !result && result.error().error.code == Errc::cancelled &&
                          acquire.services.is_draining.load();
  if (shuts_down) {
    result.error().error = {Errc::unavailable, "the server is shutting down; ask another one"};
  }
  Response response = encode(acquire.services, acquire.who, acquire.wanted, result);
  if (result) take_back_if_undelivered(response, acquire);
  co_return response;
}

Task<Response> acquire(const Call& call) {
  auto& services = call.services;
  const auto& name = call.parameters[0];
  if (!call.principal->may(Verb::lock, name)) {
    return done(answer(Problem{403, "forbidden", "your token does not cover this name"}));
  }
  const auto body = call.body();
  if (!body) return done(answer(body.error()));
  auto order = parse_acquire(call, services.core(), name, *body);
  if (!order) return done(answer(order.error()));
  auto& wanted = order->wanted;
  if (wanted.wait == Micros::zero()) {
    if (services.core().store().capabilities().immediate) {
      return done(encode(services, call.who(), wanted, take_now(services.core(), wanted)));
    }
    return at_once({services, call.who(), std::move(wanted)});
  }
  auto ticket = services.waiting.enter(name);
  if (!ticket) return done(answer(ticket.error()));
  return waiting({services, call.who(), std::move(wanted), std::move(*ticket)},
                 call.request.stop());
}

constexpr std::array routes{
    Route{Method::post, "/v1/locks/{name}/acquire", Access::lock, acquire},
};

}  // namespace

extern const std::span<const Route> acquire_routes;
const std::span<const Route> acquire_routes = routes;

}  // namespace holdfast::server
