// SPDX-License-Identifier: Apache-2.0
#include "server/config_values.hpp"

#include "text/ascii.hpp"
#include "text/quote.hpp"
#include "text/url.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::server {
namespace {

using text::is_letter_or_digit;

constexpr std::size_t max_host_bytes = 255;  // of a name in the DNS
constexpr std::size_t max_upstream_name_bytes = 64;

std::unexpected<Error> refuse_text(std::string_view text, std::string_view rule) {
  return fail(Errc::bad_input, fmt::format("{} {}", text::quoted(text::masked(text)), rule));
}

bool is_web_url(const text::StoreUrl& url) {
  return (url.scheme == "http" || url.scheme == "https") && url.endpoints.size() == 1;
}

}  // namespace

Result<void> check_host(std::string_view host) {
  const auto is_allowed = [](char c) {
    return is_letter_or_digit(c) || std::string_view(".-_:[]").contains(c);
  };
  if (host.empty() || host.size() > max_host_bytes || !std::ranges::all_of(host, is_allowed)) {
    return refuse_text(host, "must be a host as requests name it, such as locks.example.org");
  }
  return {};
}

Result<void> check_origin(std::string_view origin) {
  const auto url = text::parse_store_url(origin);
  const bool is_plain = url && is_web_url(*url) && url->path.empty() && url->options.empty() &&
                        !origin.contains('@') && !origin.contains('?');
  // Origins are compared byte by byte with what browsers send, and those send small letters.
  const bool is_small = std::ranges::none_of(origin, [](char c) { return c >= 'A' && c <= 'Z'; });
  if (!is_plain || !is_small) {
    return refuse_text(origin,
                       "must be an origin as browsers send it, such as https://app.example.org");
  }
  return {};
}

Result<void> check_upstream(std::string_view url) {
  const auto parsed = text::parse_store_url(url);
  if (!parsed || !is_web_url(*parsed)) {
    return refuse_text(url, "must be an http:// or https:// URL with a host");
  }
  return {};
}

Result<void> check_upstream_name(std::string_view name) {
  const auto is_allowed = [](char c) {
    return is_letter_or_digit(c) || std::string_view("._-").contains(c);
  };
  if (name.empty() || name.size() > max_upstream_name_bytes ||
      !std::ranges::all_of(name, is_allowed)) {
    return refuse_text(name, fmt::format("must be a name of 1 to {} letters, digits and . _ -",
                                         max_upstream_name_bytes));
  }
  return {};
}

}  // namespace holdfast::server
