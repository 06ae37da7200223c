// SPDX-License-Identifier: Apache-2.0
//
// POST /v1/sessions, /v1/sessions:keep-alive and /v1/sessions:end; GET /v1/sessions. A session's
// secret is in bodies only, never in a URL.
#include "server/sessions/sessions.hpp"

#include "server/endpoints/v1/encode.hpp"
#include "server/http/call.hpp"
#include "server/http/fields.hpp"
#include "server/locks/order.hpp"
#include "server/services.hpp"

#include <boost/json/array.hpp>

#include <array>

namespace holdfast::server {
namespace {

struct SessionOrder {
  std::string secret;
  std::optional<Micros> ttl;
};

Result<SessionOrder> parse_session(const Call& call, bool has_secret, bool has_ttl) {
  const auto body = call.body();
  if (!body) return std::unexpected(body.error());
  Fields fields(*body);
  SessionOrder order;
  if (has_secret) order.secret = fields.needed_text("session", max_session_bytes);
  if (has_ttl) order.ttl = fields.duration("ttl", min_session_ttl, max_session_ttl);
  if (auto good = fields.done(); !good) return std::unexpected(std::move(good.error()));
  return order;
}

Response encode(const Result<Sessions::Alive>& alive) {
  if (!alive) return answer(alive.error());
  return answer(200, {{"session", alive->secret},
                      {"session_id", alive->public_id},
                      {"expires_at", text::format_time(wall_now() + alive->remaining)},
                      {"expires_in_ms",
                       std::chrono::floor<std::chrono::milliseconds>(alive->remaining).count()}});
}

Task<Response> begin_one(Services& services, Who who, Micros ttl) {
  auto beginning = services.sessions.begin(std::move(who), ttl);
  const Result<Sessions::Alive> alive = co_await std::move(beginning);
  co_return encode(alive);
}

Task<Response> begin_session(const Call& call) {
  const auto order = parse_session(call, false, true);
  if (!order) return done(answer(order.error()));
  return begin_one(call.services, call.who(), order->ttl.value_or(default_session_ttl));
}

Task<Response> keep_one(Services& services, SessionOrder order) {
  auto keeping = services.sessions.keep_alive(std::move(order.secret), order.ttl);
  const Result<Sessions::Alive> alive = co_await std::move(keeping);
  co_return encode(alive);
}

Task<Response> keep_alive(const Call& call) {
  auto order = parse_session(call, true, true);
  if (!order) return done(answer(order.error()));
  return keep_one(call.services, std::move(*order));
}

Task<Response> end_one(Services& services, Who who, std::string secret) {
  const auto public_id = SessionId::of(secret).public_id;
  auto ending = services.sessions.end(std::move(who), std::move(secret));
  const Result<std::size_t> released = co_await std::move(ending);
  if (!released) co_return answer(released.error());
  co_return answer(200, {{"session_id", public_id}, {"released", *released}});
}

Task<Response> end(const Call& call) {
  auto order = parse_session(call, true, false);
  if (!order) return done(answer(order.error()));
  return end_one(call.services, call.who(), std::move(order->secret));
}

Task<Response> list_sessions(const Call& call) {
  boost::json::array sessions;
  for (const auto& each : call.services.sessions.list()) {
    boost::json::array names;
    for (const auto& name : each.names) {
      if (call.principal->may(Verb::read, name)) names.emplace_back(name);
    }
    // Whoever may see none of its locks may not know of it either.
    if (names.empty()) continue;
    sessions.emplace_back(boost::json::object{{"session_id", each.public_id},
                                              {"principal", each.principal},
                                              {"locks", std::move(names)}});
  }
  return done(answer(200, {{"sessions", std::move(sessions)}}));
}

constexpr std::array session_table{
    Route{Method::post, "/v1/sessions", Access::lock, begin_session},
    Route{Method::post, "/v1/sessions:keep-alive", Access::lock, keep_alive},
    Route{Method::post, "/v1/sessions:end", Access::lock, end},
    Route{Method::get, "/v1/sessions", Access::read, list_sessions},
};

}  // namespace

extern const std::span<const Route> session_routes;
const std::span<const Route> session_routes = session_table;

}  // namespace holdfast::server
