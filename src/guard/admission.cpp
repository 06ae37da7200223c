// SPDX-License-Identifier: Apache-2.0
#include "guard/admission.hpp"

#include "text/quote.hpp"

#include <boost/beast/core/string.hpp>
#include <fmt/format.h>

#include <charconv>

namespace holdfast::guard {

namespace {

using Admitted = std::expected<std::optional<Fence>, Refusal>;
using boost::beast::iequals;
using net::http::Method;
using net::http::Request;

// Of these a service is asked to change nothing (RFC 9110).
bool is_safe(const Request& request) {
  return request.method == Method::get || request.method == Method::head ||
         request.method == Method::options || request.method_text == "TRACE";
}

std::optional<Refusal> check_target(const Request& request) {
  const bool is_about_all = request.method == Method::options && request.path == "*";
  if (request.method_text == "CONNECT") {
    return Refusal{501, "unsupported", "CONNECT: no tunnels go through a guard"};
  }
  if ((!request.path.starts_with('/') && !is_about_all) || request.query.contains('#') ||
      request.path.contains('#')) {
    return Refusal{400, "malformed_request", "the target must be a path, such as /orders/42"};
  }
  if (request.host.find_first_of("@/\\?# ,") != std::string_view::npos) {
    return Refusal{400, "malformed_request", "Host: must be a host and perhaps a port"};
  }
  // h2c is an offer that may be passed over; a tunnel would carry what nobody checks.
  for (const auto& each : request.headers) {
    if (iequals(each.name, "Upgrade") && !iequals(each.value, "h2c")) {
      return Refusal{501, "unsupported", "Upgrade: no other protocol goes through a guard"};
    }
  }
  return std::nullopt;
}

Admitted malformed(std::string_view rule) {
  return std::unexpected(Refusal{400, "bad_input", fmt::format("{}: {}", fence_header, rule)});
}

Admitted parse_fence(std::string_view text) {
  Fence fence = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), fence);
  const bool is_number = failed == std::errc() && end == text.data() + text.size();
  if (is_number && fence >= 1 && fence <= max_guarded_fence) return fence;
  return malformed(fmt::format("must be a whole number from 1 to {}; got {}", max_guarded_fence,
                               text::quoted(text.substr(0, 64))));
}

}  // namespace

Admitted admit(const Options& options, const Request& request) {
  if (auto refusal = check_target(request)) return std::unexpected(std::move(*refusal));
  std::optional<std::string_view> given;
  for (const auto& each : request.headers) {
    if (!iequals(each.name, fence_header)) continue;
    if (given) return malformed("must be given once");
    given = each.value;
  }
  if (given) return parse_fence(*given);
  if (options.missing == Missing::pass || is_safe(request)) return std::nullopt;
  return std::unexpected(Refusal{428, "fence_required",
                                 fmt::format("{}: must be given with {}, as a lease has it",
                                             fence_header, request.method_text)});
}

}  // namespace holdfast::guard
