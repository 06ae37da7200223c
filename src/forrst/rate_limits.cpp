// SPDX-License-Identifier: Apache-2.0
#include "forrst/rate_limits.hpp"

#include "forrst/duration.hpp"
#include "recipes/rate_limit.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::forrst {

namespace {

namespace json = boost::json;
using std::chrono::seconds;

struct Limit {
  std::string_view scope;  // as the extension calls it
  std::string name;        // where it is counted
  const RateRule* rule;
};

// The server lets nobody but an administrator count under such names.
std::string own_scope(std::string_view kind, std::string_view name) {
  return fmt::format("holdfast-server:forrst:{}{}", kind, name);
}

std::vector<Limit> limits_of(const Turn& turn, const ServiceOptions& options) {
  std::vector<Limit> limits;
  if (turn.function->is_system()) return limits;
  const auto& function = turn.function->function;
  if (options.rate_limit) {
    limits.push_back({"service", own_scope("service:", options.name), &*options.rate_limit});
  }
  if (function.rate_limit) {
    limits.push_back({"function", own_scope("function:", function.name), &*function.rate_limit});
  }
  return limits;
}

Duration ms(Micros time) { return std::chrono::ceil<std::chrono::milliseconds>(time); }

json::object numbers_of(const RateOutcome& outcome, const RateRule& rule) {
  return {{"limit", outcome.limit},
          {"used", outcome.count},
          {"remaining", outcome.remaining},
          {"window", to_json(ms(rule.window))},
          {"resets_in", to_json(ms(outcome.reset_after))}};
}

json::object told(const Limit& limit, const RateOutcome& outcome) {
  auto out = numbers_of(outcome, *limit.rule);
  out["scope"] = limit.scope;
  if (std::uint64_t{outcome.remaining} * 10 <= outcome.limit) {
    out["warning"] = "Rate limit nearly exhausted";
  }
  return out;
}

Fault exceeded(const Turn& turn, const Limit& limit, const RateOutcome& outcome) {
  Fault fault{.code = std::string(codes::rate_limited), .message = "Rate limit exceeded"};
  fault.details = {{"limit", outcome.limit},
                   {"used", outcome.count},
                   {"window", to_json(ms(limit.rule->window))},
                   {"retry_after", to_json(ms(outcome.retry_after))},
                   {"scope", limit.scope},
                   {"function", turn.envelope.function}};
  return fault;
}

void add_headers(Allowance& out, const RateOutcome& outcome, const RateRule& rule) {
  const auto whole = [](Micros time) { return std::chrono::ceil<seconds>(time).count(); };
  out.headers = {
      {"RateLimit-Limit", std::to_string(outcome.limit)},
      {"RateLimit-Remaining", std::to_string(outcome.remaining)},
      {"RateLimit-Reset", std::to_string(whole(outcome.reset_after))},
      {"RateLimit-Policy", fmt::format("{};w={}", outcome.limit, whole(rule.window))},
  };
}

// The scope that was asked for, all of them, or that there is none.
json::object shown(const LimitOrder& order, std::vector<json::object> all) {
  const std::string_view wanted = order.scope == "global" ? "service" : order.scope;
  if (!wanted.empty()) {
    const auto found = std::ranges::find_if(
        all, [&](const auto& each) { return each.at("scope").as_string() == wanted; });
    if (found == all.end()) return {{"scope", order.scope}, {"unlimited", true}};
    (*found)["scope"] = order.scope;
    return std::move(*found);
  }
  if (all.empty()) return {{"unlimited", true}};
  if (all.size() == 1) return std::move(all.front());
  json::object scopes;
  for (auto& each : all) {
    const std::string scope(each.at("scope").as_string());
    scopes[scope] = std::move(each);
  }
  return {{"scopes", std::move(scopes)}};
}

}  // namespace

bool is_limited(const Turn& turn, const ServiceOptions& options) {
  if (turn.orders.limit) return true;
  return !turn.function->is_system() && (options.rate_limit || turn.function->function.rate_limit);
}

Task<Allowance> ask_limits(std::shared_ptr<client::Core> core, const Turn& turn,
                           const ServiceOptions& options) {
  Allowance out;
  std::vector<json::object> all;
  std::uint32_t least = UINT32_MAX;
  const std::vector<Limit> limits = limits_of(turn, options);
  for (const Limit& limit : limits) {
    const auto question = recipes::make_question(limit.name, {.rule = *limit.rule});
    if (!question) continue;
    auto asking = recipes::ask(core, *question, turn.stop);
    const Result<RateOutcome> outcome = co_await std::move(asking);
    if (!outcome) {
      all.push_back({{"scope", limit.scope}, {"warning", "Rate limit could not be counted"}});
      continue;
    }
    all.push_back(told(limit, *outcome));
    if (outcome->remaining < least || !outcome->allowed) {
      least = outcome->remaining;
      out.meta = numbers_of(*outcome, *limit.rule);
      add_headers(out, *outcome, *limit.rule);
    }
    if (outcome->allowed) continue;
    out.refused = exceeded(turn, limit, *outcome);
    out.retry_after = ms(outcome->retry_after);
    break;
  }
  if (turn.orders.limit) out.data = shown(*turn.orders.limit, std::move(all));
  co_return out;
}

}  // namespace holdfast::forrst
