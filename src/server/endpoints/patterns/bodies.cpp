// SPDX-License-Identifier: Apache-2.0
#include "server/endpoints/patterns/bodies.hpp"

#include "net/http/status.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::server::patterns {

namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

constexpr std::string_view not_completed = "Failed to complete operation";

Response in_both_shapes(const Problem& problem, std::string_view error, std::string_view message,
                        json::object more = {}) {
  more["error"] = error;
  more["message"] = message;
  return answer(problem, std::move(more));
}

}  // namespace

json::object success_json(std::string_view resource, Micros took, Fence fence) {
  return {{"success", true},
          {"resourceId", resource},
          {"durationMs", std::chrono::floor<milliseconds>(took).count()},
          {"fence", fence}};
}

Response locked(std::string_view resource, Micros retry_after, std::string detail) {
  // What ended while we looked can be had at once; the guide's app would say the whole ttl.
  const auto soonest = std::max<Micros>(retry_after, milliseconds(1));
  const auto retry_ms = std::chrono::ceil<milliseconds>(soonest);
  auto response =
      in_both_shapes(Problem{409, "busy", std::move(detail)}, "Resource locked",
                     fmt::format("Resource '{}' is being processed by another request", resource),
                     {{"retryAfterMs", retry_ms.count()}});
  set_retry_after(response, retry_ms);
  return response;
}

Response quorum_not_reached(std::string detail) {
  return in_both_shapes(Problem{503, "quorum_not_reached", std::move(detail)}, "Quorum not reached",
                        "Unable to acquire lock on majority of instances");
}

Response failed(std::string_view error, const Error& why) {
  return in_both_shapes(Problem{500, std::string(to_string(why.code)), why.message}, error,
                        not_completed);
}

Response shutting_down() {
  return refused(Problem{503, "unavailable", "the server is shutting down; ask another one"});
}

Response upstream_failed(int status, std::string detail) {
  const auto code = status == 504 ? "upstream_timeout" : "upstream_failed";
  const std::string message = detail;
  return in_both_shapes(Problem{status, code, std::move(detail)}, "Upstream failed", message);
}

Response refused(const Problem& problem) {
  return in_both_shapes(problem, net::http::reason_phrase(problem.status), problem.message);
}

Response refused(const Error& why) {
  const auto problem = problem_of(why);
  // As the guide's app answers whatever its store could not do.
  if (problem.status > 500) return failed(failed_lock, why);
  return refused(problem);
}

}  // namespace holdfast::server::patterns
