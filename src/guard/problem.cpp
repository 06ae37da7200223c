// SPDX-License-Identifier: Apache-2.0
#include "guard/problem.hpp"

#include "net/http/status.hpp"

#include <boost/json/serialize.hpp>

namespace holdfast::guard {

net::http::Response problem(const Refusal& refusal, boost::json::object more) {
  boost::json::object body{{"type", "about:blank"},
                           {"title", net::http::reason_phrase(refusal.status)},
                           {"status", refusal.status},
                           {"code", refusal.code},
                           {"detail", refusal.message}};
  for (auto& each : more) body.insert_or_assign(each.key(), std::move(each.value()));
  net::http::Response response{.status = refusal.status,
                               .content_type = "application/problem+json",
                               .body = boost::json::serialize(body)};
  if (refusal.status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace holdfast::guard
