// SPDX-License-Identifier: Apache-2.0
//
// POST /v1/locks/{name}/acquire
#include "server/endpoints/v1/encode.hpp"
#include "server/http/call.hpp"
#include "server/locks/grant.hpp"

#include <array>

namespace holdfast::server {
namespace {

Response encode(const AcquireOrder& order, const TakeResult& result) {
  const auto& wanted = order.wanted;
  if (!result) return refusal(result.error(), wanted.spec.kind);
  auto lease = lease_json(wanted.name.str(), wanted.owner.view(), *result);
  if (order.session) lease["session_id"] = order.session->public_id;
  return answer(200, lease);
}

Task<Response> acquire_later(Acquisition acquisition, std::stop_token stop) {
  auto& services = acquisition.services;
  const AcquireOrder order = acquisition.order;
  auto acquiring = acquire(std::move(acquisition), std::move(stop));
  const TakeResult result = co_await std::move(acquiring);
  Response response = encode(order, result);
  response.has_waited = order.wanted.wait > Micros::zero();
  // A caller that left while it was granted the lock will not release it: we do. A session's lease
  // is not the connection's: it ends with the session.
  if (result && !order.session) {
    response.undelivered = [core = services.shared_core(), wanted = held(order.wanted, *result)] {
      give_back(core, wanted);
    };
  }
  co_return response;
}

Task<Response> acquire_one(const Call& call) {
  auto& services = call.services;
  const auto& name = call.parameters[0];
  if (!call.principal->may(Verb::lock, name)) {
    return done(answer(Problem{403, "forbidden", "your token does not cover this name"}));
  }
  const auto body = call.body();
  if (!body) return done(answer(body.error()));
  auto order = parse_acquire(call, services.core(), name, *body);
  if (!order) return done(answer(order.error()));
  Acquisition acquisition{services, call.who(), std::move(*order)};
  const bool at_once = acquisition.order.wanted.wait == Micros::zero() &&
                       !acquisition.order.session && !can_be_mistaken(acquisition.order.wanted) &&
                       services.core().store().capabilities().immediate;
  if (at_once) return done(encode(acquisition.order, acquire_now(acquisition)));
  return acquire_later(std::move(acquisition), call.request.stop());
}

constexpr std::array acquire_table{
    Route{Method::post, "/v1/locks/{name}/acquire", Access::lock, acquire_one},
};

}  // namespace

extern const std::span<const Route> acquire_routes;
const std::span<const Route> acquire_routes = acquire_table;

}  // namespace holdfast::server
