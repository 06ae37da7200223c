// SPDX-License-Identifier: Apache-2.0
//
// POST /n8n/rate_limit_check
#include "server/endpoints/n8n/answers.hpp"
#include "server/http/call.hpp"
#include "server/http/fields.hpp"
#include "server/http/rate_access.hpp"
#include "server/services.hpp"

#include <array>

namespace holdfast::server {
namespace {

using n8n::recipe::RateRequest;

struct RateCheckOrder {
  RateRequest request;
  model::RateCommand command;
};

Result<RateCheckOrder> parse_rate_check(const boost::json::object& body) {
  Fields fields(body);
  RateRequest request;
  if (const auto scope = fields.text("scope", n8n::max_text_bytes)) request.scope = *scope;
  const auto limit = fields.number("limit", 1, max_rate_limit);
  constexpr auto longest = std::chrono::duration_cast<std::chrono::seconds>(max_rate_window);
  const auto window = fields.number("windowSeconds", 1, longest.count());
  if (auto good = fields.done(); !good) return std::unexpected(std::move(good.error()));
  if (limit) request.limit = static_cast<std::uint32_t>(*limit);
  if (window) request.window_seconds = static_cast<std::int64_t>(*window);
  const auto command = n8n::recipe::rate_command(request);
  if (!command) return std::unexpected(command.error());
  return RateCheckOrder{std::move(request), *command};
}

Task<Response> check_later(Services& services, Who who, RateCheckOrder order) {
  const std::string& scope = order.request.scope;
  auto checking = n8n::recipe::check_rate(services.n8n_core, order.request);
  const Result<RateOutcome> outcome = co_await std::move(checking);
  note_rate(services, who, scope, order.command, outcome);
  if (!outcome) co_return n8n::refused(outcome.error());
  co_return answer(200, n8n::recipe::to_json(scope, *outcome));
}

Task<Response> check(const Call& call) {
  const auto body = call.body();
  if (!body) return done(n8n::refused(body.error()));
  auto order = parse_rate_check(*body);
  if (!order) return done(n8n::refused(order.error()));
  if (!call.principal->may(Verb::lock, "n8n-ratelimit-" + order->request.scope)) {
    return done(n8n::forbidden());
  }
  return check_later(call.services, call.who(), std::move(*order));
}

constexpr std::array n8n_rate_table{
    Route{Method::post, "/n8n/rate_limit_check", Access::lock, check},
};

}  // namespace

extern const std::span<const Route> n8n_rate_routes;
const std::span<const Route> n8n_rate_routes = n8n_rate_table;

}  // namespace holdfast::server
