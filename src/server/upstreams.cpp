// SPDX-License-Identifier: Apache-2.0
#include "server/upstreams.hpp"

#include "net/http/client.hpp"
#include "text/base64.hpp"
#include "text/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace holdfast::server {

namespace {

constexpr std::size_t max_answer_bytes = 1 << 20U;

// What follows the authority, still encoded: the upstream is asked for what the operator wrote.
std::string target_of(std::string_view url) {
  const auto authority = url.find("//") + 2;
  const auto begin = std::min(url.find_first_of("/?", authority), url.size());
  const auto rest = url.substr(begin);
  return rest.starts_with('/') ? std::string(rest) : fmt::format("/{}", rest);
}

}  // namespace

Result<UpstreamPlace> parse_upstream(std::string_view url) {
  auto parsed = text::parse_store_url(url);
  if (!parsed) return std::unexpected(std::move(parsed.error()));
  const bool is_encrypted = parsed->scheme == "https";
  if ((!is_encrypted && parsed->scheme != "http") || parsed->endpoints.size() != 1) {
    return fail(Errc::bad_input,
                text::masked(url) + " must be an http:// or https:// URL with a host");
  }
  const auto& endpoint = parsed->endpoints.front();
  net::http::Origin origin;
  origin.host = endpoint.host;
  origin.port = endpoint.port != 0 ? endpoint.port : is_encrypted ? 443 : 80;
  origin.max_body_bytes = max_answer_bytes;
  if (is_encrypted) origin.tls.emplace();
  if (!parsed->user.empty() || !parsed->password.empty()) {
    const auto login = fmt::format("{}:{}", parsed->user, parsed->password);
    origin.headers.emplace_back("Authorization", "Basic " + text::to_base64(login));
  }
  return UpstreamPlace{std::move(origin), target_of(url)};
}

Upstreams::Upstreams(const std::shared_ptr<runtime::Runtime>& runtime, const Urls& urls) {
  for (const auto& [name, url] : urls) {
    auto place = parse_upstream(url);
    if (!place) continue;
    by_name_.emplace(
        name, Upstream{std::make_unique<net::http::Client>(runtime, std::move(place->origin)),
                       std::move(place->target)});
  }
}

Upstreams::~Upstreams() = default;

bool Upstreams::has(std::string_view name) const { return by_name_.contains(name); }

Task<Result<net::http::ClientResponse>> Upstreams::send(std::string_view name, UpstreamCall call) {
  const auto found = by_name_.find(name);
  assert(found != by_name_.end());
  return found->second.client->send({.method = std::move(call.method),
                                     .target = found->second.target,
                                     .headers = std::move(call.headers),
                                     .body = std::move(call.body),
                                     .deadline = call.deadline,
                                     .stop = std::move(call.stop)});
}

}  // namespace holdfast::server
