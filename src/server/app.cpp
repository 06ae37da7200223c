// SPDX-License-Identifier: Apache-2.0
#include "server/app.hpp"

#include "runtime/clock.hpp"
#include "server/endpoints/forrst/answers.hpp"
#include "server/http/answer.hpp"
#include "server/http/target.hpp"
#include "server/journal.hpp"
#include "server/log.hpp"
#include "server/metrics/metrics.hpp"
#include "server/options.hpp"
#include "server/services.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::server {

using net::http::Request;
using runtime::LocalClock;
using runtime::LocalTime;

// What is needed of a request after its answer.
struct App::Begun {
  std::uint64_t id = 0;
  LocalTime at{};
  const Route* route = nullptr;  // null: there is none
  Method method = Method::other;
  std::string origin;       // allowed, and not our own
  bool has_waited = false;  // on purpose, for a lock
};

namespace {

Response not_found() {
  // `error` is what the Valkey guide's clients look for.
  return answer(Problem{404, "not_found", "there is nothing here; see /docs"},
                {{"error", "Not Found"}});
}

}  // namespace

App::App(Services& services, const Router& router, std::vector<std::string> hosts)
    : services_(services),
      router_(router),
      guard_(services, std::move(hosts)),
      limits_(services, router) {}

Response App::preflight(const Request& request) const {
  const auto origin = request.header("Origin");
  const auto& allowed = services_.options().allowed_origins;
  if (std::ranges::find(allowed, origin) == allowed.end()) return not_found();
  return {.status = 204,
          .headers = {{"Access-Control-Allow-Methods", "GET, POST, DELETE"},
                      {"Access-Control-Allow-Headers",
                       "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Prefer"},
                      {"Access-Control-Max-Age", "600"}}};
}

Task<Response> App::dispatch(const Request& request, const Route** route) {
  if (request.method == Method::options) return done(preflight(request));
  auto match = router_.find(request.method, request.path);
  if (match.route == nullptr && match.allow.empty()) return done(not_found());
  if (match.route == nullptr) {
    auto response = answer(Problem{405, "method_not_allowed", "this path has other methods"});
    response.headers.emplace_back("Allow", std::move(match.allow));
    return done(std::move(response));
  }
  *route = match.route;
  auto principal = guard_.admit(request, *match.route);
  if (!principal) {
    auto& refused = principal.error();
    deny(request, refused.problem);
    auto response = answer(refused.problem);
    if (refused.retry_after > Micros::zero()) set_retry_after(response, refused.retry_after);
    if (refused.problem.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return done(std::move(response));
  }
  Call call{services_, request, {}, std::move(*principal)};
  for (const auto parameter : match.parameters) {
    auto decoded = percent_decoded(parameter);
    if (!decoded) {
      return done(
          answer(Error{Errc::bad_input, "path: a % must be followed by two hexadecimal digits"}));
    }
    call.parameters.push_back(std::move(*decoded));
  }
  return limits_.run(call, *match.route);
}

void App::deny(const Request& request, const Problem& problem) {
  if (problem.status != 401 && problem.status != 403) return;
  services_.metrics().denied.add();
  // Whoever tries all night fills a disk with it: the audit trail is bounded, the log is not.
  services_.journal.note({nullptr, request.peer ? request.peer->address : std::string()}, "denied",
                         "", problem.code);
}

void App::allow_origin(const Begun& begun, Response& response) const {
  if (begun.origin.empty()) return;
  response.headers.emplace_back("Access-Control-Allow-Origin", begun.origin);
  // A page sees no others but the plainest.
  response.headers.emplace_back("Access-Control-Expose-Headers",
                                "Holdfast-Fence, Idempotency-Replayed, RateLimit-Limit, "
                                "RateLimit-Remaining, RateLimit-Reset, Retry-After, X-Request-Id");
  response.headers.emplace_back("Vary", "Origin");
}

Response App::finish(const Begun& begun, Response response) {
  if (begun.route != nullptr && is_forrst_path(begun.route->pattern)) {
    response = in_forrst(*services_.forrst, std::move(response));
  }
  response.id = begun.id;
  allow_origin(begun, response);
  if (services_.is_draining.load(std::memory_order_relaxed)) response.close = true;
  write_down(begun, response);
  return response;
}

void App::write_down(const Begun& begun, const Response& response) const {
  auto& metrics = services_.metrics();
  const auto digit = static_cast<std::size_t>(response.status / 100);
  metrics.http_by_status[std::min(digit, metrics.http_by_status.size() - 1)].add();
  const auto took = std::chrono::floor<Histogram::Time>(LocalClock::now() - begun.at);
  const bool is_ours =
      !begun.has_waited && (begun.route == nullptr || !begun.route->takes_its_time);
  if (is_ours) metrics.http_time.add(took);
  // Whoever is sent away while the server stops is no news.
  const bool is_trouble = response.status >= 500 && !services_.is_draining;
  const auto level = is_trouble ? LogLevel::warning : LogLevel::debug;
  if (!logs(level)) return;
  // The route, not the path: a path may hold what somebody put there by mistake.
  log(level, "request",
      {{"id", fmt::format("{:016x}", begun.id)},
       {"method", std::string(to_string(begun.method))},
       {"route", begun.route != nullptr ? std::string(begun.route->pattern) : "none"},
       {"status", std::to_string(response.status)},
       {"took_us", std::to_string(took.count())}});
}

Task<Response> App::finish_later(Begun begun, Task<Response> task) {
  Response response = co_await std::move(task);
  begun.has_waited = response.has_waited;
  co_return finish(begun, std::move(response));
}

Task<Response> App::handle(const Request& request) {
  Begun begun{.id = services_.next_request_id(), .at = LocalClock::now(), .method = request.method};
  const auto& origins = services_.options().allowed_origins;
  if (!origins.empty()) {
    const auto origin = request.header("Origin");
    if (std::ranges::find(origins, origin) != origins.end()) begun.origin = origin;
  }
  auto task = dispatch(request, &begun.route);
  if (task.is_ready()) return done(finish(begun, task.take_ready()));
  return finish_later(std::move(begun), std::move(task));
}

Response App::refuse(const net::http::RequestReader::Refusal& refusal, const net::http::Peer&) {
  const Begun begun{.id = services_.next_request_id(), .at = LocalClock::now()};
  const Problem problem{refusal.status, std::string(refusal.code), std::string(refusal.message)};
  return finish(begun, is_forrst_path(refusal.path) ? to_response(*services_.forrst, problem)
                                                    : answer(problem));
}

}  // namespace holdfast::server
