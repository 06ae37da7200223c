// SPDX-License-Identifier: Apache-2.0
//
// POST /api/locks/{pattern}/{resourceId}: an operation under a lock, as the Valkey guide has it.
#include "model/party.hpp"
#include "server/endpoints/patterns/bodies.hpp"
#include "server/endpoints/patterns/redlock.hpp"
#include "server/endpoints/patterns/single.hpp"
#include "server/services.hpp"

#include <array>

namespace holdfast::server {

namespace patterns {
namespace {

Task<Response> run(const Call& call) {
  auto& services = call.services;
  const auto* const pattern = find_pattern(call.parameters[0]);
  if (pattern == nullptr) {
    return done(answer(Problem{404, "not_found", "there is no such pattern; see /health"},
                       {{"error", "Not Found"}}));
  }
  const auto name = pattern->lock_name(call.parameters[1]);
  if (!call.principal->may(Verb::lock, name)) {
    return done(refused(Problem{403, "forbidden", "your token does not cover this name"}));
  }
  auto order = parse_order(call, *pattern);
  if (!order) return done(refused(order.error()));
  const bool waits = order->wanted.wait > Micros::zero();
  Job job{services, call.who(), std::move(*order), call.request.stop()};
  if (pattern->is_a_vote) return run_redlock(std::move(job));
  if (waits) {
    const auto party = model::party_of(job.order.wanted.owner.view());
    auto place = services.waiting.enter(name, party);
    if (!place) return done(refused(place.error()));
    job.place.emplace(std::move(*place));
  }
  return run_single(std::move(job));
}

constexpr std::array routes{
    Route{Method::post, "/api/locks/{pattern}/{resourceId}", Access::lock, run, true},
};

}  // namespace
}  // namespace patterns

extern const std::span<const Route> pattern_routes;
const std::span<const Route> pattern_routes = patterns::routes;

}  // namespace holdfast::server
