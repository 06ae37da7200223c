// SPDX-License-Identifier: Apache-2.0
#include "server/problem.hpp"

#include "net/http/status.hpp"
#include "text/error_codes.hpp"

#include <boost/json/object.hpp>

namespace holdfast::server {

Problem problem_of(const Error& error) {
  return {.status = text::http_status(error.code),
          .code = std::string(to_string(error.code)),
          .message = error.message};
}

boost::json::object to_json(const Problem& problem) {
  return {{"type", "about:blank"},
          {"title", net::http::reason_phrase(problem.status)},
          {"status", problem.status},
          {"code", problem.code},
          {"detail", problem.message}};
}

}  // namespace holdfast::server
