// SPDX-License-Identifier: Apache-2.0
#include "server/endpoints/forrst/answers.hpp"

#include "text/json_parse.hpp"

namespace holdfast::server {

namespace {

namespace codes = forrst::codes;
using net::http::Response;

constexpr std::string_view problem_type = "application/problem+json";

// What the guard, the limits of endpoints and the reader of requests refuse.
std::string_view refusal_code(int status) {
  switch (status) {
    case 401: return codes::unauthorized;
    case 403: return codes::forbidden;
    case 429: return codes::rate_limited;
    case 503: return codes::unavailable;
    default: return status < 500 ? codes::invalid_request : codes::internal_error;
  }
}

std::string message_of(const Problem& problem) {
  if (problem.status == 415) return "Content-Type must be application/json";
  if (problem.status != 413) return problem.message;
  return "The request is longer than " + std::to_string(forrst::max_request_bytes) + " bytes";
}

std::string text_in(const boost::json::object& object, std::string_view name) {
  const auto* member = object.if_contains(name);
  const auto* text = member != nullptr ? member->if_string() : nullptr;
  return text != nullptr ? std::string(*text) : std::string();
}

}  // namespace

bool is_forrst_path(std::string_view path) { return path == "/forrst" || path == "/rpc"; }

Response to_response(forrst::Reply reply) {
  Response response{.status = reply.status, .body = std::move(reply.body)};
  response.headers = std::move(reply.headers);
  response.has_waited = reply.has_waited;
  response.undelivered = std::move(reply.undelivered);
  return response;
}

Response to_response(const forrst::Service& service, const Problem& problem) {
  return to_response(service.refuse(
      problem.status,
      {.code = std::string(refusal_code(problem.status)), .message = message_of(problem)}));
}

Response in_forrst(const forrst::Service& service, Response response) {
  if (response.content_type != problem_type) return response;
  const auto about = text::parse_json(response.body);
  Problem problem{.status = response.status};
  if (about && about->is_object()) problem.message = text_in(about->get_object(), "detail");
  auto answer = to_response(service, problem);
  for (auto& each : response.headers) {
    std::erase_if(answer.headers, [&](const auto& ours) { return ours.first == each.first; });
    answer.headers.push_back(std::move(each));
  }
  return answer;
}

}  // namespace holdfast::server
