// SPDX-License-Identifier: Apache-2.0
//
// POST /v1/rate-limits/{scope}/check, …/peek and …/reset: how often something may happen, for
// programs that have no store of their own.
#include "recipes/rate_limit.hpp"
#include "server/http/answer.hpp"
#include "server/http/call.hpp"
#include "server/http/endpoint_limits.hpp"
#include "server/http/fields.hpp"
#include "server/http/rate_answer.hpp"
#include "server/services.hpp"
#include "text/rate.hpp"

#include <array>
#include <optional>

namespace holdfast::server {
namespace {

using RateVerb = model::RateCommand::Verb;

constexpr std::size_t max_rate_bytes = 64;
constexpr std::size_t max_word_bytes = 64;

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

Result<RateOrder> parse(const Call& call, RateVerb verb) {
  const auto body = call.body();
  if (!body) return std::unexpected(body.error());
  Fields fields(*body);
  const auto rate = read_rate(fields);
  const auto algorithm = fields.text("algorithm", max_word_bytes);
  const auto layout = fields.text("layout", max_word_bytes);
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

void count(Metrics& metrics, const Result<RateOutcome>& outcome) {
  auto& counter = !outcome           ? metrics.rate_failed
                  : outcome->allowed ? metrics.rate_allowed
                                     : metrics.rate_denied;
  counter.add();
}

Response encode(Services& services, const Who& who, const RateOrder& order,
                const Result<RateOutcome>& outcome) {
  const auto& [scope, name, command] = order.question;
  if (command.verb == RateVerb::check) count(services.metrics(), outcome);
  if (!outcome) return answer(outcome.error());
  if (command.verb == RateVerb::reset) {
    services.journal.note(who, "rate_limit_reset", scope, text::format_rate(command.rule));
  }
  auto body = text::to_json(scope, *outcome);
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

// Whoever may lock a name may count under it. The server's own limits are for those alone who may
// also take locks away: anybody else could use up what is another's.
Verb needed_verb(RateVerb verb, std::string_view scope) {
  if (verb == RateVerb::peek) return Verb::read;
  return verb == RateVerb::reset || scope.starts_with(own_scope_prefix) ? Verb::admin : Verb::lock;
}

template <RateVerb verb>
Task<Response> endpoint(const Call& call) {
  auto order = parse(call, verb);
  if (!order) return done(answer(order.error()));
  if (!call.principal->may(needed_verb(verb, call.parameters[0]), call.parameters[0])) {
    return done(answer(Problem{403, "forbidden", "your token does not cover this scope"}));
  }
  auto asking = recipes::ask(call.services.shared_core(), order->question, {});
  if (asking.is_ready()) {
    return done(encode(call.services, call.who(), *order, asking.take_ready()));
  }
  return encode_later(call.services, call.who(), std::move(*order), std::move(asking));
}

constexpr std::array routes{
    Route{Method::post, "/v1/rate-limits/{scope}/check", Access::lock, endpoint<RateVerb::check>},
    Route{Method::post, "/v1/rate-limits/{scope}/peek", Access::read, endpoint<RateVerb::peek>},
    Route{Method::post, "/v1/rate-limits/{scope}/reset", Access::admin, endpoint<RateVerb::reset>},
};

}  // namespace

extern const std::span<const Route> rate_limit_routes;
const std::span<const Route> rate_limit_routes = routes;

}  // namespace holdfast::server
