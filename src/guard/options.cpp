// SPDX-License-Identifier: Apache-2.0
#include "guard/options.hpp"

#include "text/url.hpp"

#include <fmt/format.h>

namespace holdfast::guard {

namespace {

constexpr std::string_view unix_scheme = "unix:";

std::unexpected<Error> refuse(std::string_view url, std::string_view rule) {
  return fail(Errc::bad_input, fmt::format("--upstream: {} {}", text::masked(url), rule));
}

// What follows the authority, as the operator wrote it.
std::string_view path_of(std::string_view url) {
  const auto authority = url.find("//") + 2;
  return url.substr(std::min(url.find_first_of("/?#", authority), url.size()));
}

}  // namespace

Result<UpstreamUrl> parse_upstream(std::string_view url) {
  UpstreamUrl out;
  if (url.starts_with(unix_scheme)) {
    out.origin.unix_path = url.substr(unix_scheme.size());
    out.origin.host = "localhost";
    if (!out.origin.unix_path.starts_with('/')) {
      return refuse(url, "must name a socket by its absolute path, as in unix:/run/app.sock");
    }
    return out;
  }
  auto parsed = text::parse_store_url(url);
  if (!parsed) return fail(Errc::bad_input, "--upstream: " + parsed.error().message);
  const bool is_encrypted = parsed->scheme == "https";
  if ((!is_encrypted && parsed->scheme != "http") || parsed->endpoints.size() != 1) {
    return refuse(url, "must be http://HOST[:PORT], https://HOST[:PORT] or unix:/PATH");
  }
  if (!parsed->user.empty() || !parsed->password.empty()) {
    return refuse(url, "must have no user: what a client sends is passed on as it is");
  }
  const auto& endpoint = parsed->endpoints.front();
  out.origin.host = endpoint.host;
  out.origin.port = endpoint.port != 0 ? endpoint.port : is_encrypted ? 443 : 80;
  if (is_encrypted) out.origin.tls.emplace();
  auto path = path_of(url);
  if (path.find_first_of("?#") != std::string_view::npos) {
    return refuse(url, "must have no query");
  }
  while (path.ends_with('/')) path.remove_suffix(1);
  out.base = path;
  return out;
}

}  // namespace holdfast::guard
