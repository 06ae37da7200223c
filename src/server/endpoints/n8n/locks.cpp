// SPDX-License-Identifier: Apache-2.0
//
// POST /n8n/lock_acquisition and /n8n/lock_release
#include "server/endpoints/n8n/answers.hpp"
#include "server/http/call.hpp"
#include "server/http/fields.hpp"
#include "server/locks/grant.hpp"
#include "server/metrics/metrics.hpp"
#include "server/services.hpp"

#include <array>

namespace holdfast::server {
namespace {

using n8n::max_text_bytes;
using n8n::recipe::LockRequest;

constexpr std::uint64_t max_seconds = n8n::recipe::default_seconds;

void set(std::string& field, std::optional<std::string_view> value) {
  if (value) field = *value;
}

Result<LockRequest> parse_acquisition(client::Core& core, const boost::json::object& body) {
  Fields fields(body);
  LockRequest request;
  set(request.scope, fields.text("scope", max_text_bytes));
  set(request.execution_id, fields.text("execution_id", max_text_bytes));
  set(request.lock_id, fields.text("lock_id", max_text_bytes));
  set(request.workflow_id, fields.text("workflow_id", max_text_bytes));
  set(request.workflow_name, fields.text("workflow_name", max_text_bytes));
  const auto waits = fields.yes_or_no("wait_till_lock_released");
  const auto ttl = fields.number("ttl_seconds", 1, max_seconds);
  const auto max_wait = fields.number("max_wait_seconds", 0, max_seconds);
  if (auto good = fields.done(); !good) return std::unexpected(std::move(good.error()));
  request.wait_till_lock_released = waits.value_or(true);
  request.ttl_seconds = static_cast<std::int64_t>(ttl.value_or(max_seconds));
  request.max_wait_seconds = static_cast<std::int64_t>(max_wait.value_or(max_seconds));
  return n8n::recipe::completed(core, std::move(request));
}

Task<Response> acquire_later(Acquisition acquisition, LockRequest request, std::stop_token stop) {
  const auto core = acquisition.core;
  const client::Wanted wanted = acquisition.order.wanted;
  auto acquiring = acquire(std::move(acquisition), std::move(stop));
  const TakeResult taken = co_await std::move(acquiring);
  if (!taken) {
    Response response = n8n::refused(n8n::recipe::explain(request, taken.error()));
    response.has_waited = wanted.wait > Micros::zero();
    co_return response;
  }
  auto describing = n8n::recipe::describe(core, std::move(request), wanted.name);
  const Result<n8n::recipe::Lock> lock = co_await std::move(describing);
  Response response = answer(200, n8n::recipe::to_json(*lock));
  response.has_waited = wanted.wait > Micros::zero();
  // Nobody else would release it before its ttl, which is a day.
  response.undelivered = [core, unwanted = held(wanted, *taken)] { give_back(core, unwanted); };
  co_return response;
}

Task<Response> acquire_lock(const Call& call) {
  auto& services = call.services;
  const auto core = services.n8n_core;
  const auto body = call.body();
  if (!body) return done(n8n::refused(body.error()));
  auto request = parse_acquisition(*core, *body);
  if (!request) return done(n8n::refused(request.error()));
  auto key = n8n::recipe::lock_key(request->scope);
  if (!call.principal->may(Verb::lock, key)) return done(n8n::forbidden());
  auto wanted = n8n::recipe::wanted(*core, *request);
  if (!wanted) return done(n8n::refused(wanted.error()));
  Acquisition acquisition{services, call.who(), {std::move(*wanted)}, core, std::move(key)};
  return acquire_later(std::move(acquisition), std::move(*request), call.request.stop());
}

struct ReleaseOrder {
  std::string scope;
  std::optional<std::string> lock_id;
  std::optional<Fence> fence;
};

Result<ReleaseOrder> parse_release(const boost::json::object& body) {
  Fields fields(body);
  ReleaseOrder order{.scope = LockRequest{}.scope, .lock_id = std::nullopt, .fence = std::nullopt};
  set(order.scope, fields.text("scope", max_text_bytes));
  if (const auto id = fields.text("lock_id", max_text_bytes)) order.lock_id.emplace(*id);
  order.fence = fields.fence("fence");
  if (auto good = fields.done(); !good) return std::unexpected(std::move(good.error()));
  return order;
}

void write_down(Services& services, const Who& who, const n8n::recipe::Release& release) {
  if (release.idempotent || !release.lock_id) return;
  const auto key = n8n::recipe::lock_key(release.scope);
  auto& metrics = services.metrics();
  const auto held = metrics.holds.released(key, *release.lock_id, services.core().runtime().now());
  if (held) metrics.hold_time.add(held->time);
  n8n::write_down(services, who,
                  {.type = EventType::released,
                   .name = key,
                   .fence = held ? std::optional(held->fence) : std::nullopt});
}

Task<Response> release_later(Services& services, Who who, ReleaseOrder order) {
  auto releasing = n8n::recipe::release(services.n8n_core, std::move(order.scope),
                                        std::move(order.lock_id), order.fence);
  const Result<n8n::recipe::Release> released = co_await std::move(releasing);
  if (!released) {
    services.metrics().releases.add(released.error().code);
    co_return n8n::refused(released.error());
  }
  write_down(services, who, *released);
  co_return answer(200, n8n::recipe::to_json(*released));
}

Task<Response> release_lock(const Call& call) {
  const auto body = call.body();
  if (!body) return done(n8n::refused(body.error()));
  auto order = parse_release(*body);
  if (!order) return done(n8n::refused(order.error()));
  if (!call.principal->may(Verb::lock, n8n::recipe::lock_key(order->scope))) {
    return done(n8n::forbidden());
  }
  return release_later(call.services, call.who(), std::move(*order));
}

constexpr std::array n8n_lock_table{
    Route{Method::post, "/n8n/lock_acquisition", Access::lock, acquire_lock},
    Route{Method::post, "/n8n/lock_release", Access::lock, release_lock},
};

}  // namespace

extern const std::span<const Route> n8n_lock_routes;
const std::span<const Route> n8n_lock_routes = n8n_lock_table;

}  // namespace holdfast::server
