// SPDX-License-Identifier: Apache-2.0
#include "server/http/answer.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <chrono>

namespace holdfast::server {

Response answer(int status, const boost::json::object& body) {
  return {.status = status, .body = boost::json::serialize(body)};
}

Response answer(const Problem& problem, boost::json::object more) {
  auto body = to_json(problem);
  for (auto& each : more) body.insert_or_assign(each.key(), std::move(each.value()));
  return {.status = problem.status,
          .content_type = "application/problem+json",
          .body = boost::json::serialize(body)};
}

Response answer(const Error& error, boost::json::object more) {
  return answer(problem_of(error), std::move(more));
}

void set_retry_after(Response& response, Micros delay) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(delay).count();
  response.headers.emplace_back("Retry-After", std::to_string(std::max<long>(1, seconds)));
}

}  // namespace holdfast::server
