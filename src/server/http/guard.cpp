// SPDX-License-Identifier: Apache-2.0
#include "server/http/guard.hpp"

#include "runtime/clock.hpp"
#include "server/auth/bearer.hpp"
#include "server/auth/request_rate.hpp"
#include "server/auth/tokens.hpp"
#include "server/options.hpp"
#include "server/services.hpp"

#include <boost/beast/core/string.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace holdfast::server {

namespace {

std::unexpected<Refused> refuse(int status, std::string_view code, std::string message,
                                Micros retry_after = {}) {
  return std::unexpected(
      Refused{Problem{status, std::string(code), std::move(message)}, retry_after});
}

// "[::1]:3009" → "::1", "localhost:3009" → "localhost"; empty for what is neither.
std::string_view without_port(std::string_view host) {
  const bool has_brackets = host.starts_with('[');
  const auto end = has_brackets ? host.find(']') : std::min(host.find(':'), host.size());
  if (end == std::string_view::npos) return {};
  const auto port = host.substr(has_brackets ? end + 1 : end);
  const bool is_port =
      port.empty() || (port.front() == ':' && port.find_first_not_of("0123456789", 1) == port.npos);
  if (!is_port) return {};
  return has_brackets ? host.substr(1, end - 1) : host.substr(0, end);
}

std::string_view without_scheme(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return origin.substr(scheme.size());
  }
  return {};
}

bool is_json(std::string_view content_type) {
  const auto end = std::min(content_type.find(';'), content_type.size());
  auto type = content_type.substr(0, end);
  while (type.ends_with(' ')) type.remove_suffix(1);
  return boost::beast::iequals(type, "application/json");
}

Verb verb_of(Access access) {
  switch (access) {
    case Access::lock: return Verb::lock;
    case Access::admin: return Verb::admin;
    default: return Verb::read;
  }
}

}  // namespace

Guard::Guard(Services& services, std::vector<std::string> hosts)
    : services_(services), hosts_(std::move(hosts)) {}

bool Guard::is_known_host(std::string_view host) const {
  const auto name = without_port(host);
  return std::ranges::any_of(
      hosts_, [name](const std::string& each) { return boost::beast::iequals(each, name); });
}

// A web page on another site can make a browser send requests here, under a name of its own that
// it points at this address, or under ours but with its origin.
bool Guard::is_foreign(const net::http::Request& request) const {
  const auto origin = request.header("Origin");
  if (!origin.empty()) {
    const bool is_same = without_scheme(origin) == request.host && !request.host.empty();
    const auto& allowed = services_.options().allowed_origins;
    const bool is_allowed = std::ranges::find(allowed, origin) != allowed.end();
    if (!is_same && !is_allowed) return true;
  }
  const bool needs_no_token = services_.tokens() == nullptr;
  const bool by_network = request.peer == nullptr || request.peer->address != "unix";
  return needs_no_token && by_network && !is_known_host(request.host);
}

std::expected<PrincipalPtr, Refused> Guard::identify(const net::http::Request& request,
                                                     const Route& route) const {
  const auto tokens = services_.tokens();
  if (!tokens || route.access == Access::open) return Principal::everybody();
  const auto token = bearer_token(request.header("Authorization"));
  auto principal = token ? tokens->find(*token) : nullptr;
  if (!principal) {
    return refuse(401, "unauthenticated", "a known token is needed: Authorization: Bearer TOKEN");
  }
  return principal;
}

std::expected<PrincipalPtr, Refused> Guard::admit(const net::http::Request& request,
                                                  const Route& route) const {
  if (route.access != Access::open && is_foreign(request)) {
    return refuse(403, "foreign_host",
                  "Host or Origin is not this server's: see allowed_hosts and allowed_origins");
  }
  if (request.has_body && !is_json(request.header("Content-Type"))) {
    return refuse(415, "content_type", "a body must be Content-Type: application/json");
  }
  auto principal = identify(request, route);
  if (!principal || route.access == Access::open) return principal;
  const auto wait = services_.rates.take(**principal, runtime::LocalClock::now());
  if (wait > RequestRate::Wait::zero()) {
    return refuse(429, "rate_limited", "token_requests_per_s: this token asks too often",
                  std::chrono::ceil<Micros>(wait));
  }
  if (!(*principal)->may(verb_of(route.access))) {
    return refuse(403, "forbidden", "your token does not have the verb this needs");
  }
  return principal;
}

}  // namespace holdfast::server
