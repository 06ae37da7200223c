// SPDX-License-Identifier: Apache-2.0
#include "net/http/client_message.hpp"

#include "net/http/message.hpp"

#include <boost/beast/core/string.hpp>
#include <fmt/format.h>

#include <iterator>

namespace holdfast::net::http {

namespace {

std::string authority_of(const Origin& origin) {
  const bool is_ipv6 = origin.host.contains(':');
  auto host = is_ipv6 ? fmt::format("[{}]", origin.host) : origin.host;
  return origin.unix_path.empty() ? fmt::format("{}:{}", host, origin.port) : host;
}

}  // namespace

std::string Origin::describe() const {
  if (!unix_path.empty()) return "unix:" + unix_path;
  return fmt::format("{}://{}", tls ? "https" : "http", authority_of(*this));
}

std::string_view ClientResponse::header(std::string_view name) const noexcept {
  for (const auto& [each, value] : headers) {
    if (boost::beast::iequals(each, name)) return value;
  }
  return {};
}

std::string bytes_of(const Origin& origin, const ClientRequest& request) {
  std::string out;
  out.reserve(256 + request.body.size());
  fmt::format_to(std::back_inserter(out), "{} {} HTTP/1.1\r\n", request.method, request.target);
  append_header("Host", authority_of(origin), out);
  for (const auto& [name, value] : origin.headers) append_header(name, value, out);
  for (const auto& [name, value] : request.headers) append_header(name, value, out);
  const bool has_body = !request.body.empty() || request.method == "POST";
  if (has_body) append_header("Content-Length", std::to_string(request.body.size()), out);
  out.append("\r\n").append(request.body);
  return out;
}

}  // namespace holdfast::net::http
