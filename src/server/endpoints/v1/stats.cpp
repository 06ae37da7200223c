// SPDX-License-Identifier: Apache-2.0
//
// GET /v1/stats, /v1/stats/history, /v1/contention, /v1/deadlocks and /metrics: how it is going.
#include "server/audit/audit_log.hpp"
#include "server/endpoints/v1/encode.hpp"
#include "server/http/answer.hpp"
#include "server/http/call.hpp"
#include "server/metrics/metrics.hpp"
#include "server/metrics/stats_history.hpp"
#include "server/services.hpp"
#include "server/watch/watcher.hpp"

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include <array>

namespace holdfast::server {
namespace {

constexpr std::size_t shown_contended_names = 20;
constexpr std::size_t shown_names_by_time = 100;

std::int64_t whole_ms(Micros time) {
  return std::chrono::floor<std::chrono::milliseconds>(time).count();
}

boost::json::value number_or_null(const std::optional<std::size_t>& number) {
  return number ? boost::json::value(*number) : boost::json::value(nullptr);
}

boost::json::object to_json(const ContendedName& contended) {
  return {{"name", contended.name},
          {"refused", contended.refused},
          {"waited", contended.waited},
          {"waited_ms", whole_ms(contended.waited_for)},
          {"longest_ms", whole_ms(contended.longest)}};
}

// All are ranked before any is left out: what a caller may not see takes nobody's place.
boost::json::array contended_names(const Call& call, RankedBy rank, std::size_t count) {
  boost::json::array names;
  for (const auto& each : call.services.metrics().contention.top(max_contended_names, rank)) {
    if (names.size() == count) break;
    if (call.principal->may(Verb::read, each.name)) names.emplace_back(to_json(each));
  }
  return names;
}

Task<Response> contention(const Call& call) {
  call.services.watcher.want();
  return done(answer(200, {{"names", contended_names(call, RankedBy::time, shown_names_by_time)}}));
}

Task<Response> history_of_stats(const Call& call) {
  const auto query = call.query();
  if (!query) return done(answer(query.error()));
  call.services.watcher.want();
  std::string word = "1m";
  for (const auto& [name, value] : *query) {
    if (name != "span") return done(answer(Error{Errc::bad_input, "query: only span is known"}));
    word = value;
  }
  const auto* span = find_span(word);
  if (span == nullptr) {
    return done(answer(Error{Errc::bad_input, fmt::format("span: must be one of {}", span_words)}));
  }
  return done(answer(200, call.services.history.columns(*span)));
}

Task<Response> stats(const Call& call) {
  auto& services = call.services;
  services.watcher.want();
  const auto gauges = services.gauges();
  return done(
      answer(200, {{"contended", contended_names(call, RankedBy::times, shown_contended_names)},
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
  call.services.watcher.want();
  boost::json::array all;
  for (const auto& each : call.services.watcher.deadlocks()) {
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
  services.watcher.want();
  return done({.status = 200,
               .content_type = "text/plain; version=0.0.4; charset=utf-8",
               .body = exposition(services.metrics(), services.gauges(), HOLDFAST_VERSION)});
}

constexpr std::array stats_table{
    Route{Method::get, "/v1/stats", Access::read, stats},
    Route{Method::get, "/v1/stats/history", Access::read, history_of_stats},
    Route{Method::get, "/v1/contention", Access::read, contention},
    Route{Method::get, "/v1/deadlocks", Access::read, deadlocks},
    Route{Method::get, "/metrics", Access::read, metrics},
};

}  // namespace

extern const std::span<const Route> stats_routes;
const std::span<const Route> stats_routes = stats_table;

}  // namespace holdfast::server
