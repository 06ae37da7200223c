// SPDX-License-Identifier: Apache-2.0
//
// POST /v1/fences/{resource}/check: for a resource that has no place of its own to remember the
// newest fence it has seen.
#include "client/core.hpp"
#include "server/http/answer.hpp"
#include "server/http/call.hpp"
#include "server/http/fields.hpp"
#include "server/services.hpp"

#include <array>

namespace holdfast::server {
namespace {

struct CheckOrder {
  LockName resource;
  model::GuardCommand command;
};

Result<CheckOrder> parse_check(const Call& call) {
  auto resource = LockName::make(call.parameters[0]);
  if (!resource) return std::unexpected(std::move(resource.error()));
  const auto body = call.body();
  if (!body) return std::unexpected(body.error());
  Fields fields(*body);
  const auto fence = fields.fence("fence");
  const auto keep =
      fields.duration("keep", model::limits::min_guard_keep, model::limits::max_guard_keep);
  if (auto good = fields.done(); !good) return std::unexpected(std::move(good.error()));
  if (!fence) return fail(Errc::bad_input, "fence: must be given, as an integer");
  return CheckOrder{std::move(*resource),
                    {.fence = *fence, .keep = keep.value_or(model::limits::default_guard_keep)}};
}

Task<Response> check_one(Services& services, CheckOrder order) {
  store::Request request{.name = order.resource,
                         .command = order.command,
                         .deadline = services.core().runtime().now() + client::command_timeout};
  auto asking = services.core().store().apply(std::move(request));
  const Result<store::Reply> reply = co_await std::move(asking);
  if (!reply) co_return answer(reply.error());
  const auto& outcome = std::get<model::GuardOutcome>(reply->outcome);
  const boost::json::object body{{"resource", order.resource.str()},
                                 {"accepted", outcome.accepted},
                                 {"fence", order.command.fence},
                                 {"newest", outcome.newest}};
  if (outcome.accepted) co_return answer(200, body);
  co_return answer(Problem{412, "stale_fence", "a newer fence was seen: this holder is too late"},
                   body);
}

Task<Response> check_fence(const Call& call) {
  auto order = parse_check(call);
  if (!order) return done(answer(order.error()));
  if (!call.principal->may(Verb::lock, call.parameters[0])) {
    return done(answer(Problem{403, "forbidden", "your token does not cover this name"}));
  }
  return check_one(call.services, std::move(*order));
}

constexpr std::array fence_table{
    Route{Method::post, "/v1/fences/{resource}/check", Access::lock, check_fence},
};

}  // namespace

extern const std::span<const Route> fence_routes;
const std::span<const Route> fence_routes = fence_table;

}  // namespace holdfast::server
