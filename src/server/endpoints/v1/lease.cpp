// SPDX-License-Identifier: Apache-2.0
//
// POST /v1/locks/{name}/renew and …/release: whoever knows the owner may.
#include "client/explain.hpp"
#include "model/party.hpp"
#include "server/endpoints/v1/encode.hpp"
#include "server/http/call.hpp"
#include "server/http/fields.hpp"
#include "server/journal.hpp"
#include "server/locks/ask.hpp"
#include "server/locks/order.hpp"
#include "server/metrics/metrics.hpp"
#include "server/services.hpp"
#include "server/sessions/sessions.hpp"

#include <array>

namespace holdfast::server {
namespace {

struct LeaseOrder {
  LockName name;
  OwnerId owner;
  model::RequestId request{};  // any: everything that the owner holds
  Micros ttl{};
  Fence up_to = UINT64_MAX;  // of a release with any request
};

enum class Asked : std::uint8_t { renew, release };

Result<LeaseOrder> parse_lease(const Call& call, Asked asked) {
  auto name = LockName::make(call.parameters[0]);
  if (!name) return std::unexpected(std::move(name.error()));
  const auto body = call.body();
  if (!body) return std::unexpected(body.error());
  Fields fields(*body);
  const auto owner_text = fields.needed_text("owner", max_owner_bytes);
  const auto request_text = fields.text("request", max_request_key_bytes);
  const bool renews = asked == Asked::renew;
  const auto ttl = renews ? fields.duration("ttl", min_ttl, max_ttl) : std::nullopt;
  const auto fence = renews ? std::nullopt : fields.fence("fence");
  if (auto good = fields.done(); !good) return std::unexpected(std::move(good.error()));
  if (fence && request_text && !request_text->empty()) {
    return fail(Errc::bad_input, "fence: must not be given with request, which names one lease");
  }
  auto owner = OwnerId::make(owner_text);
  if (!owner) return std::unexpected(std::move(owner.error()));
  const auto request = held_request(call, *name, *owner, request_text.value_or(""));
  if (!request) return std::unexpected(request.error());
  return LeaseOrder{std::move(*name), std::move(*owner), *request, ttl.value_or(default_ttl),
                    fence.value_or(UINT64_MAX)};
}

Response refused(ByOutcome& counter, const Error& error) {
  counter.add(error.code);
  return answer(error);
}

// A lock that nobody holds looks like one that the caller's token does not cover.
Error explain(const LockName& name, const model::LockOutcome& outcome) {
  auto error = client::explain_refusal(name, outcome);
  return error.code == Errc::not_held ? not_held_or_not_yours(name.str()) : error;
}

Response encode_renewed(Services& services, const Who& who, const LeaseOrder& order,
                        const Result<store::Reply>& reply) {
  auto& counter = services.metrics().renewals;
  if (!reply) return refused(counter, reply.error());
  const auto& outcome = std::get<model::LockOutcome>(reply->outcome);
  const auto* granted = std::get_if<model::Granted>(&outcome);
  if (granted == nullptr) return refused(counter, explain(order.name, outcome));
  services.journal.record(who, {.type = EventType::renewed,
                                .name = order.name.str(),
                                .fence = granted->fence,
                                .remaining = granted->remaining});
  return answer(200, lease_json(order.name.str(), order.owner.view(),
                                Taken{{}, granted->fence, granted->remaining, {}}));
}

Response encode_released(Services& services, const Who& who, const LeaseOrder& order,
                         const Result<store::Reply>& reply) {
  auto& metrics = services.metrics();
  if (!reply) return refused(metrics.releases, reply.error());
  const auto& outcome = std::get<model::LockOutcome>(reply->outcome);
  const auto* released = std::get_if<model::Released>(&outcome);
  services.sessions.forget(order.name.str(), order.owner, order.request, order.up_to);
  if (released == nullptr) {
    return refused(metrics.releases, explain(order.name, outcome));
  }
  const auto held =
      metrics.holds.released(order.name.str(), order.owner.view(), services.core().runtime().now());
  if (held) metrics.hold_time.add(held->time);
  services.journal.record(who, {.type = released->lease ? EventType::released : EventType::left,
                                .name = order.name.str(),
                                .fence = held ? std::optional(held->fence) : std::nullopt,
                                .party = held ? 0 : model::party_of(order.owner.view()),
                                .held = held ? std::optional(held->time) : std::nullopt});
  return answer(200, {{"name", order.name.str()}, {"released", true}});
}

using Encode = Response (*)(Services&, const Who&, const LeaseOrder&, const Result<store::Reply>&);

Task<Response> finish(Services& services, Who who, LeaseOrder order, Encode encode,
                      Task<Result<store::Reply>> asking) {
  const Result<store::Reply> reply = co_await std::move(asking);
  co_return encode(services, who, order, reply);
}

template <typename Verb>
Task<Response> run(const Call& call, LeaseOrder order, Verb verb, Encode encode) {
  auto asking = ask(call.services.core(), order.name, std::move(verb));
  if (asking.is_ready()) {
    return done(encode(call.services, call.who(), order, asking.take_ready()));
  }
  return finish(call.services, call.who(), std::move(order), encode, std::move(asking));
}

Task<Response> renew(const Call& call) {
  auto order = parse_lease(call, Asked::renew);
  if (!order) return done(answer(order.error()));
  if (!call.principal->may(Verb::lock, call.parameters[0])) {
    return done(answer(not_held_or_not_yours(call.parameters[0])));
  }
  model::Renew verb{.owner = order->owner, .request = order->request, .ttl = order->ttl};
  return run(call, std::move(*order), std::move(verb), encode_renewed);
}

Task<Response> release(const Call& call) {
  auto order = parse_lease(call, Asked::release);
  if (!order) return done(answer(order.error()));
  if (!call.principal->may(Verb::lock, call.parameters[0])) {
    return done(answer(not_held_or_not_yours(call.parameters[0])));
  }
  model::Release verb{.owner = order->owner, .request = order->request, .up_to = order->up_to};
  return run(call, std::move(*order), std::move(verb), encode_released);
}

constexpr std::array lease_table{
    Route{Method::post, "/v1/locks/{name}/renew", Access::lock, renew},
    Route{Method::post, "/v1/locks/{name}/release", Access::lock, release},
};

}  // namespace

extern const std::span<const Route> lease_routes;
const std::span<const Route> lease_routes = lease_table;

}  // namespace holdfast::server
