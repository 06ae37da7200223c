// SPDX-License-Identifier: Apache-2.0
//
// GET /v1/locks/{name}/timeline: what happened to a lock lately, as far as this server knows.
#include "server/events/timelines.hpp"
#include "server/http/answer.hpp"
#include "server/http/call.hpp"
#include "server/services.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include <array>

namespace holdfast::server {
namespace {

namespace json = boost::json;

json::object to_json(const Counts& counts) {
  json::array bounds;
  for (const auto bound : Counts::bounds) {
    bounds.emplace_back(static_cast<double>(bound.count()) / 1000);
  }
  json::array buckets(counts.buckets.begin(), counts.buckets.end());
  return {{"bounds_ms", std::move(bounds)},
          {"counts", std::move(buckets)},
          {"count", counts.count()},
          {"sum_ms", counts.sum_us / 1000}};
}

// Events have their text already; there is no need to read it again.
Response encode(const std::string& name, const Timeline& timeline) {
  std::string body = fmt::format(R"({{"name":{},"truncated":{},"waits":{},"holds":{},"events":[)",
                                 json::serialize(json::string(name)), timeline.truncated,
                                 json::serialize(to_json(timeline.waits)),
                                 json::serialize(to_json(timeline.holds)));
  for (std::size_t at = 0; at < timeline.events.size(); ++at) {
    if (at > 0) body += ',';
    body += timeline.events[at]->json();
  }
  body += "]}";
  return {.status = 200, .body = std::move(body)};
}

Task<Response> timeline(const Call& call) {
  const auto name = LockName::make(call.parameters[0]);
  if (!name) return done(answer(name.error()));
  if (!call.request.query.empty()) {
    return done(answer(Error{Errc::bad_input, "query: a timeline takes none"}));
  }
  // What a token does not cover looks like a lock to which nothing has happened.
  const bool may_see = call.principal->may(Verb::read, name->str());
  return done(encode(name->str(), may_see ? call.services.timelines.of(name->str()) : Timeline{}));
}

constexpr std::array timeline_table{
    Route{Method::get, "/v1/locks/{name}/timeline", Access::read, timeline},
};

}  // namespace

extern const std::span<const Route> timeline_routes;
const std::span<const Route> timeline_routes = timeline_table;

}  // namespace holdfast::server
