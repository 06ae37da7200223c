// SPDX-License-Identifier: Apache-2.0
#include <holdfast/idempotency.hpp>

#include "text/canonical_json.hpp"
#include "text/sha256.hpp"

#include <fmt/format.h>

namespace holdfast {

namespace {

Result<std::string> named(std::string_view part, Result<std::string> canonical) {
  if (canonical) return canonical;
  auto& error = canonical.error();
  error.message = fmt::format("{}: must be JSON: {}", part, error.message);
  return canonical;
}

// A request without a body has the fingerprint of one with {}, and so has one with null.
Result<std::string> json_part(std::string_view name, std::string_view json) {
  if (json.empty()) return "{}";
  auto canonical = named(name, text::canonical_json(json));
  if (canonical && *canonical == "null") return "{}";
  return canonical;
}

}  // namespace

Result<std::string> canonical_json(std::string_view json) {
  return named("json", text::canonical_json(json));
}

Result<std::string> request_fingerprint(const RequestParts& parts) {
  std::string all;
  bool is_first = true;
  const auto add = [&](std::string_view part) {
    if (!std::exchange(is_first, false)) all += '|';
    all += part;
  };
  if (parts.method) add(*parts.method);
  if (parts.path) add(*parts.path);
  if (parts.body) {
    auto body = json_part("body", *parts.body);
    if (!body) return body;
    add(*body);
  }
  if (parts.query) {
    auto query = json_part("query", *parts.query);
    if (!query) return query;
    add(*query);
  }
  // The hash of nothing would agree with every other request that said nothing.
  if (is_first) return fail(Errc::bad_input, "request: must have a method, path, body or query");
  return text::sha256_hex(all);
}

}  // namespace holdfast
