// SPDX-License-Identifier: Apache-2.0
//
// GET /health: for the guide's clients, for load balancers, and with a token for people.
#include "client/core.hpp"
#include "server/auth/bearer.hpp"
#include "server/auth/tokens.hpp"
#include "server/endpoints/patterns/pattern.hpp"
#include "server/endpoints/patterns/voters.hpp"
#include "server/http/answer.hpp"
#include "server/http/call.hpp"
#include "server/metrics/metrics.hpp"
#include "server/services.hpp"
#include "server/store_probe.hpp"

#include <fmt/format.h>

#include <array>

namespace holdfast::server {
namespace {

namespace json = boost::json;

// Whoever asks without a token learns that the server is there, and whether it works.
bool may_see_all(const Call& call) {
  const auto tokens = call.services.tokens();
  if (!tokens) return true;
  const auto token = bearer_token(call.request.header("Authorization"));
  return token && tokens->find(*token) != nullptr;
}

json::object implementations() {
  json::object all;
  for (const auto& pattern : patterns::all_patterns()) {
    all[pattern.health] = {{"endpoint", fmt::format("/api/locks/{}/:resourceId", pattern.word)},
                           {"type", pattern.type}};
  }
  return all;
}

json::object store_json(const store::Store& store, const StoreProbe::Health& health) {
  json::object about{{"url", store.describe()}, {"status", health ? "ok" : "unavailable"}};
  if (health) {
    about["latency_ms"] = std::chrono::duration<double, std::milli>(*health).count();
  } else {
    about["reason"] = health.error().message;
  }
  return about;
}

Response encode(Services& services, bool all, const StoreProbe::Health& health) {
  const bool is_draining = services.is_draining.load();
  const auto* const status = is_draining ? "draining" : health ? "ok" : "unavailable";
  json::object body{{"status", status}, {"service", "distributed-lock"}};
  if (all) {
    body["implementations"] = implementations();
    body["store"] = store_json(services.core().store(), health);
    body["redlock"] = {{"demo", services.voters.is_demo}, {"members", services.voters.count}};
    body["version"] = HOLDFAST_VERSION;
    body["draining"] = is_draining;
  }
  return answer(is_draining || !health ? 503 : 200, body);
}

Task<Response> look(Services& services, bool all, Task<StoreProbe::Health> looking) {
  const StoreProbe::Health health = co_await std::move(looking);
  co_return encode(services, all, health);
}

Task<Response> health(const Call& call) {
  return look(call.services, may_see_all(call), call.services.probe.look());
}

constexpr std::array health_table{
    Route{Method::get, "/health", Access::open, health},
};

}  // namespace

extern const std::span<const Route> health_routes;
const std::span<const Route> health_routes = health_table;

}  // namespace holdfast::server
