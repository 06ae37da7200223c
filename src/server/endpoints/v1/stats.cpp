// SPDX-License-Identifier: Apache-2.0
//
// GET /v1/stats, /v1/deadlocks and /metrics: how it is going.
#include "server/endpoints/v1/encode.hpp"
#include "server/http/answer.hpp"
#include "server/http/call.hpp"
#include "server/services.hpp"

#include <boost/json/array.hpp>

#include <array>

namespace holdfast::server {
namespace {

constexpr std::size_t shown_contended_names = 20;

std::int64_t whole_ms(Micros time) {
  return std::chrono::floor<std::chrono::milliseconds>(time).count();
}

boost::json::value number_or_null(const std::optional<std::size_t>& number) {
  return number ? boost::json::value(*number) : boost::json::value(nullptr);
}

Task<Response> stats(const Call& call) {
  auto& services = call.services;
  services.watcher->want();
  boost::json::array contended;
  for (const auto& each : services.metrics().contention.top(shown_contended_names)) {
    if (!call.principal->may(Verb::read, each.name)) continue;
    contended.emplace_back(boost::json::object{{"name", each.name},
                                               {"refused", each.refused},
                                               {"waited", each.waited},
                                               {"waited_ms", whole_ms(each.waited_for)}});
  }
  const auto gauges = services.gauges();
  return done(answer(200, {{"contended", std::move(contended)},
                           {"held_locks", number_or_null(gauges.held)},
                           {"waiters_on_store", number_or_null(gauges.waiters_on_store)},
                           {"waiters", gauges.waiters},
                           {"connections", gauges.connections},
                           {"sessions", gauges.sessions},
                           {"event_streams", gauges.event_streams},
                           {"store_up", gauges.store_up}}));
}

boost::json::object to_json(const DeadlockMember& member, const Principal& reader) {
  boost::json::array holds;
  for (const auto& name : member.holds) {
    if (reader.may(Verb::read, name)) holds.emplace_back(name);
  }
  return {{"who", member.node},
          {"holds", std::move(holds)},
          {"waits_for", member.waits_for},
          {"waiting_ms", whole_ms(member.waiting_for)}};
}

Task<Response> deadlocks(const Call& call) {
  call.services.watcher->want();
  boost::json::array all;
  for (const auto& each : call.services.watcher->deadlocks()) {
    boost::json::array members;
    for (const auto& member : each.members) {
      if (!call.principal->may(Verb::read, member.waits_for)) continue;
      members.emplace_back(to_json(member, *call.principal));
    }
    if (members.empty()) continue;
    all.emplace_back(boost::json::object{{"id", each.id},
                                         {"since", text::format_time(each.since)},
                                         {"members", std::move(members)}});
  }
  return done(answer(200, {{"deadlocks", std::move(all)}}));
}

Task<Response> metrics(const Call& call) {
  auto& services = call.services;
  services.watcher->want();
  return done({.status = 200,
               .content_type = "text/plain; version=0.0.4; charset=utf-8",
               .body = exposition(services.metrics(), services.gauges(), HOLDFAST_VERSION)});
}

constexpr std::array routes{
    Route{Method::get, "/v1/stats", Access::read, stats},
    Route{Method::get, "/v1/deadlocks", Access::read, deadlocks},
    Route{Method::get, "/metrics", Access::read, metrics},
};

}  // namespace

extern const std::span<const Route> stats_routes;
const std::span<const Route> stats_routes = routes;

}  // namespace holdfast::server
