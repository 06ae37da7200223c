// SPDX-License-Identifier: Apache-2.0
#include "server/endpoints/patterns/kept_answer.hpp"

#include "server/runs/run_answer.hpp"
#include "text/json_parse.hpp"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

namespace holdfast::server::patterns {

namespace {

namespace json = boost::json;
using net::http::Response;

json::object headers_of(const Response& response) {
  json::object headers;
  if (!response.content_type.empty()) headers["Content-Type"] = response.content_type;
  for (const auto& [name, value] : response.headers) {
    // JSON has no place for other bytes, and the body matters more than a header.
    if (is_utf8(value)) headers[name] = value;
  }
  return headers;
}

Answer instead_of(const Response& response) {
  const auto sentence =
      fmt::format("it has happened; its answer of {} bytes was longer than the {} that are kept",
                  response.body.size(), max_answer_bytes);
  const json::object body{{"code", "answer_too_long"}, {"detail", sentence}};
  return {.status = static_cast<std::uint16_t>(response.status),
          .headers = json::serialize(json::object{{"Content-Type", "application/json"}}),
          .body = json::serialize(body)};
}

}  // namespace

Answer keep(const net::http::Response& response) {
  Answer kept{.status = static_cast<std::uint16_t>(response.status),
              .headers = json::serialize(headers_of(response)),
              .body = response.body};
  const bool is_too_long =
      kept.body.size() > max_answer_bytes || kept.headers.size() > max_answer_header_bytes;
  return is_too_long ? instead_of(response) : kept;
}

net::http::Response replay(const Answer& kept) {
  net::http::Response response{.status = kept.status, .content_type = {}, .body = kept.body};
  const auto headers = text::parse_json(kept.headers);
  if (headers && headers->is_object()) {
    for (const auto& each : headers->get_object()) {
      const auto* const value = each.value().if_string();
      if (value == nullptr) continue;
      response.headers.emplace_back(std::string(each.key()), std::string(*value));
    }
  }
  response.headers.emplace_back("Idempotency-Replayed", "true");
  return response;
}

}  // namespace holdfast::server::patterns
