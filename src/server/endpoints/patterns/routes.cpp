// SPDX-License-Identifier: Apache-2.0
//
// POST /api/locks/{pattern}/{resourceId}: an operation under a lock, as the Valkey guide has it.
#include "server/endpoints/patterns/bodies.hpp"
#include "server/endpoints/patterns/once.hpp"
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
  auto once = parse_once(call, name);
  if (!once) return done(refused(once.error()));
  Job job{services, call.who(), std::move(*order), call.request.stop()};
  if (*once) return run_once(std::move(**once), std::move(job));
  return run_job(std::move(job));
}

constexpr std::array pattern_table{
    Route{Method::post, "/api/locks/{pattern}/{resourceId}", Access::lock, run, true},
};

}  // namespace
}  // namespace patterns

extern const std::span<const Route> pattern_routes;
const std::span<const Route> pattern_routes = patterns::pattern_table;

}  // namespace holdfast::server
