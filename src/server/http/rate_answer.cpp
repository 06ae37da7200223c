// SPDX-License-Identifier: Apache-2.0
#include "server/http/rate_answer.hpp"

#include "server/http/answer.hpp"

#include <algorithm>
#include <chrono>

namespace holdfast::server {

void set_rate_headers(Response& response, const RateOutcome& outcome) {
  static constexpr std::string_view first = "RateLimit-Limit";
  const bool has_its_own =
      std::ranges::any_of(response.headers, [](const auto& each) { return each.first == first; });
  if (has_its_own) return;
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(outcome.reset_after).count();
  response.headers.emplace_back(first, std::to_string(outcome.limit));
  response.headers.emplace_back("RateLimit-Remaining", std::to_string(outcome.remaining));
  response.headers.emplace_back("RateLimit-Reset", std::to_string(seconds));
}

Response too_often(std::string message, const RateOutcome& outcome, boost::json::object more) {
  auto response = answer(Problem{429, "rate_limited", std::move(message)}, std::move(more));
  set_retry_after(response, outcome.retry_after);
  set_rate_headers(response, outcome);
  return response;
}

}  // namespace holdfast::server
