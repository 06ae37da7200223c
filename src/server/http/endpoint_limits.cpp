// SPDX-License-Identifier: Apache-2.0
#include "server/http/endpoint_limits.hpp"

#include "client/core.hpp"
#include "server/config_rates.hpp"
#include "server/http/answer.hpp"
#include "server/http/kept_call.hpp"
#include "server/http/rate_answer.hpp"
#include "server/metrics/metrics.hpp"
#include "server/metrics/rate_board.hpp"
#include "server/services.hpp"
#include "server/wall_clock.hpp"
#include "text/duration.hpp"
#include "text/rate.hpp"

#include <fmt/format.h>

#include <span>

namespace holdfast::server {

// The limits that one request has to pass, and how far it is.
struct EndpointLimits::Round {
  std::span<const EndpointLimit* const> limits;
  std::size_t at = 0;   // of the one that is asked
  std::string scope{};  // of the same
  std::optional<RateOutcome> tightest{};

  const EndpointLimit& limit() const { return *limits[at]; }
  bool is_over() const { return at == limits.size(); }
};

namespace {

constexpr auto counts_it = model::RateCommand::Verb::check;

std::string_view who(const EndpointLimit& limit, const Call& call) {
  switch (limit.per) {
    case EndpointLimit::Per::token: return call.principal->name;
    case EndpointLimit::Per::address:
      return call.request.peer != nullptr ? std::string_view(call.request.peer->address) : "";
    case EndpointLimit::Per::all: break;
  }
  return "";
}

std::string scope_of(const EndpointLimit& limit, std::string_view whose) {
  return fmt::format("{}{}:{}:{}", own_scope_prefix, limit.path, to_string(limit.per), whose);
}

std::string describe(const EndpointLimit& limit) {
  const bool is_shared = limit.per == EndpointLimit::Per::all;
  return fmt::format("rate_limits: {} allows {}{}{}", limit.path, text::format_rate(limit.rule),
                     is_shared ? "" : " per ", is_shared ? "" : to_string(limit.per));
}

Response with_headers(Response response, const std::optional<RateOutcome>& tightest) {
  if (tightest) set_rate_headers(response, *tightest);
  return response;
}

Task<Response> with_headers_later(Task<Response> task, std::optional<RateOutcome> tightest) {
  Response response = co_await std::move(task);
  co_return with_headers(std::move(response), tightest);
}

}  // namespace

EndpointLimits::EndpointLimits(Services& services, const Router& router) : services_(services) {
  for (const auto& route : router.routes()) {
    if (is_never_limited(route.pattern) || by_pattern_.contains(route.pattern)) continue;
    for (const auto& limit : services.options().rate_limits) {
      if (covers(limit.path, route.pattern)) by_pattern_[route.pattern].push_back(&limit);
    }
  }
}

Result<void> EndpointLimits::check_store(const std::shared_ptr<client::Core>& core,
                                         const ServerOptions& options) {
  for (const auto& limit : options.rate_limits) {
    auto question = recipes::make_question(
        scope_of(limit, ""), {.verb = model::RateCommand::Verb::peek, .rule = limit.rule});
    if (!question) return std::unexpected(std::move(question.error()));
    auto asking = recipes::ask(core, std::move(*question), {});
    if (!asking.is_ready()) continue;
    const auto answer = asking.take_ready();
    if (answer || answer.error().code != Errc::unsupported) continue;
    return fail(Errc::unsupported, "rate_limits: " + answer.error().message);
  }
  return {};
}

Task<EndpointLimits::Answer> EndpointLimits::ask(Round& round, const Call& call) const {
  const auto& limit = round.limit();
  round.scope = scope_of(limit, who(limit, call));
  auto question = recipes::make_question(round.scope, {.verb = counts_it, .rule = limit.rule});
  if (!question) return Task<Answer>(std::unexpected(std::move(question.error())));
  return recipes::ask(services_.shared_core(), std::move(*question), {});
}

std::optional<Response> EndpointLimits::judge(Round& round, const Answer& answer) const {
  const auto& limit = round.limit();
  ++round.at;
  if (answer) services_.rate_board.checked(round.scope, limit.rule, *answer, wall_now());
  if (!answer) {
    if (limit.without_store == EndpointLimit::WithoutStore::allow) return std::nullopt;
    // Whatever the endpoint wants of the same store would not be had either.
    auto refused = server::answer(Problem{503, "unavailable",
                                          fmt::format("{}, and the store cannot count: {}",
                                                      describe(limit), answer.error().message)});
    set_retry_after(refused, std::chrono::seconds(1));
    return refused;
  }
  if (!answer->allowed) {
    services_.metrics().rate_limited.add();
    const auto delay = std::chrono::ceil<std::chrono::milliseconds>(answer->retry_after);
    return too_often(fmt::format("{}; the next request is allowed in {}", describe(limit),
                                 text::format_duration(delay)),
                     *answer);
  }
  if (!round.tightest || answer->remaining < round.tightest->remaining) round.tightest = *answer;
  return std::nullopt;
}

Task<Response> EndpointLimits::run_later(std::unique_ptr<KeptCall> kept, const Route* route,
                                         Round round, Task<Answer> asking) const {
  Answer answer = co_await std::move(asking);
  while (true) {
    if (auto refused = judge(round, answer)) co_return std::move(*refused);
    if (round.is_over()) break;
    auto more = ask(round, kept->call());
    answer = co_await std::move(more);
  }
  auto task = route->endpoint(kept->call());
  // Endpoints take what they need before they wait, and some wait for a day.
  kept.reset();
  Response response = co_await std::move(task);
  co_return with_headers(std::move(response), round.tightest);
}

Task<Response> EndpointLimits::run(const Call& call, const Route& route) const {
  const auto found = by_pattern_.find(route.pattern);
  if (found == by_pattern_.end()) return route.endpoint(call);
  Round round{found->second};
  while (!round.is_over()) {
    auto asking = ask(round, call);
    if (!asking.is_ready()) {
      return run_later(std::make_unique<KeptCall>(call), &route, round, std::move(asking));
    }
    if (auto refused = judge(round, asking.take_ready())) return done(std::move(*refused));
  }
  auto task = route.endpoint(call);
  if (!task.is_ready()) return with_headers_later(std::move(task), round.tightest);
  return done(with_headers(task.take_ready(), round.tightest));
}

}  // namespace holdfast::server
