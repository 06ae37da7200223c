// SPDX-License-Identifier: Apache-2.0
//
// POST /v1/rate-limits/{scope}/check, …/peek and …/reset: how often something may happen, for
// programs that have no store of their own. GET /v1/rate-limits: what was checked through here.
#include "model/limit_name.hpp"
#include "recipes/rate_limit.hpp"
#include "server/http/answer.hpp"
#include "server/http/call.hpp"
#include "server/http/fields.hpp"
#include "server/http/rate_access.hpp"
#include "server/http/rate_answer.hpp"
#include "server/metrics/rate_board.hpp"
#include "server/services.hpp"
#include "server/wall_clock.hpp"
#include "text/rate.hpp"

#include <boost/json/array.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace holdfast::server {
namespace {

using RateVerb = model::RateCommand::Verb;

constexpr std::size_t max_rate_bytes = 64;
constexpr std::size_t max_rate_word_bytes = 64;

struct RateOrder {
  recipes::RateQuestion question;
  bool enforce = false;
};

// Either "rate", or "limit" and "window".
std::optional<text::Rate> read_rate(Fields& fields) {
  const auto rate = fields.text("rate", max_rate_bytes);
  const auto limit = fields.number("limit", 1, max_rate_limit);
  const auto window = fields.duration("window", min_rate_window, max_rate_window);
  if (fields.failed()) return std::nullopt;
  if (rate && (limit || window)) {
    fields.refuse("rate", "must not be given together with limit and window");
    return std::nullopt;
  }
  if (!rate && limit && window) return text::Rate{static_cast<std::uint32_t>(*limit), *window};
  if (!rate) {
    const auto* const missing = limit ? "window" : window ? "limit" : "rate";
    fields.refuse(missing, "must be given: rate, or both limit and window");
    return std::nullopt;
  }
  const auto parsed = text::parse_rate(*rate);
  if (parsed) return *parsed;
  fields.refuse("rate", parsed.error().message);
  return std::nullopt;
}

Result<RateOrder> parse_rate(const Call& call, RateVerb verb) {
  const auto body = call.body();
  if (!body) return std::unexpected(body.error());
  Fields fields(*body);
  const auto rate = read_rate(fields);
  const auto algorithm = fields.text("algorithm", max_rate_word_bytes);
  const auto layout = fields.text("layout", max_rate_word_bytes);
  const auto burst = fields.number("burst", 1, max_rate_limit);
  // A reset has no cost, and only a check can be refused.
  const auto cost = verb != RateVerb::reset ? fields.number("cost", 1, max_rate_limit) : 1;
  const auto enforce = verb == RateVerb::check ? fields.yes_or_no("enforce") : false;
  if (auto good = fields.done(); !good) return std::unexpected(std::move(good.error()));
  const auto rule =
      text::make_rule(*rate, {.algorithm = algorithm.value_or(""),
                              .layout = layout.value_or(""),
                              .burst = static_cast<std::uint32_t>(burst.value_or(0))});
  if (!rule) return std::unexpected(rule.error());
  auto question = recipes::make_question(
      call.parameters[0],
      {.verb = verb, .rule = *rule, .cost = static_cast<std::uint32_t>(cost.value_or(1))});
  if (!question) return std::unexpected(std::move(question.error()));
  return RateOrder{std::move(*question), enforce.value_or(false)};
}

std::string_view counted_under(const RateOrder& order) {
  return model::counted_under(order.question.name, order.question.command.rule).value();
}

Response encode(Services& services, const Who& who, const RateOrder& order,
                const Result<RateOutcome>& outcome) {
  note_rate(services, who, counted_under(order), order.question.command, outcome);
  if (!outcome) return answer(outcome.error());
  auto body = text::to_json(order.question.scope, *outcome);
  if (order.enforce && !outcome->allowed) {
    return too_often(recipes::explain_denied(order.question, *outcome), *outcome, std::move(body));
  }
  auto response = answer(200, body);
  set_rate_headers(response, *outcome);
  return response;
}

Task<Response> encode_later(Services& services, Who who, RateOrder order,
                            Task<Result<RateOutcome>> asking) {
  const Result<RateOutcome> outcome = co_await std::move(asking);
  co_return encode(services, who, order, outcome);
}

template <RateVerb verb>
Task<Response> endpoint(const Call& call) {
  auto order = parse_rate(call, verb);
  if (!order) return done(answer(order.error()));
  const auto counted = counted_under(*order);
  if (!call.principal->may(needed_verb(verb, counted), counted)) {
    return done(answer(Problem{403, "forbidden", "your token does not cover this scope"}));
  }
  auto asking = recipes::ask(call.services.shared_core(), order->question, {});
  if (asking.is_ready()) {
    return done(encode(call.services, call.who(), *order, asking.take_ready()));
  }
  return encode_later(call.services, call.who(), std::move(*order), std::move(asking));
}

// What was counted then counts until its time is over, unless somebody came since.
RateOutcome as_of(const ShownRate& shown, text::WallTime now) {
  auto outcome = shown.last;
  outcome.reset_after -= std::max(now - shown.last_at, Micros::zero());
  if (outcome.reset_after > Micros::zero()) return outcome;
  return {.allowed = true, .limit = outcome.limit, .remaining = outcome.limit};
}

boost::json::object to_json(const ShownRate& shown) {
  const auto time_or_null = [](const auto& at) {
    return at ? boost::json::value(text::format_time(*at)) : boost::json::value(nullptr);
  };
  auto out = text::to_json(shown.scope, as_of(shown, wall_now()));
  out.erase("allowed");
  out.erase("retry_after_ms");
  out["rate"] = text::format_rate(shown.rule);
  out["algorithm"] = to_string(shown.rule.algorithm);
  out["layout"] = to_string(shown.rule.layout);
  out["window_ms"] = std::chrono::ceil<std::chrono::milliseconds>(shown.rule.window).count();
  out["allowed"] = shown.allowed;
  out["denied"] = shown.denied;
  out["last_at"] = text::format_time(shown.last_at);
  out["last_denied_at"] = time_or_null(shown.last_denied_at);
  return out;
}

Task<Response> list_rates(const Call& call) {
  boost::json::array limits;
  for (const auto& each : call.services.rate_board.all()) {
    if (call.principal->may(Verb::read, each.scope)) limits.emplace_back(to_json(each));
  }
  return done(answer(200, {{"limits", std::move(limits)}}));
}

constexpr std::array rate_limit_table{
    Route{Method::get, "/v1/rate-limits", Access::read, list_rates},
    Route{Method::post, "/v1/rate-limits/{scope}/check", Access::lock, endpoint<RateVerb::check>},
    Route{Method::post, "/v1/rate-limits/{scope}/peek", Access::read, endpoint<RateVerb::peek>},
    Route{Method::post, "/v1/rate-limits/{scope}/reset", Access::admin, endpoint<RateVerb::reset>},
};

}  // namespace

extern const std::span<const Route> rate_limit_routes;
const std::span<const Route> rate_limit_routes = rate_limit_table;

}  // namespace holdfast::server
