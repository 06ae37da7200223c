// SPDX-License-Identifier: Apache-2.0
#include "guard/forward.hpp"

#include <boost/beast/core/string.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace holdfast::guard {

namespace {

using boost::beast::iequals;
using net::http::Method;
using net::http::Request;

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  // Most names differ in their length or first letter.
  return std::ranges::any_of(names, [&](std::string_view each) {
    return each.size() == name.size() && (each[0] | 32) == (name[0] | 32) && iequals(each, name);
  });
}

constexpr std::array<std::string_view, 10> of_one_hop{"Connection",
                                                      "Keep-Alive",
                                                      "Proxy-Connection",
                                                      "Proxy-Authenticate",
                                                      "Proxy-Authorization",
                                                      "TE",
                                                      "Trailer",
                                                      "Transfer-Encoding",
                                                      "Upgrade",
                                                      "HTTP2-Settings"};

// Written anew, or answered here.
constexpr std::array<std::string_view, 6> made_anew{
    "Host", "Content-Length", "Expect", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host"};

void append_field(std::string_view name, std::string_view value, std::string& out) {
  out.append(name).append(": ").append(value).append("\r\n");
}

std::string authority_of(const net::http::Origin& origin) {
  if (!origin.unix_path.empty()) return origin.host;
  const bool is_ipv6 = origin.host.contains(':');
  const auto host = is_ipv6 ? fmt::format("[{}]", origin.host) : origin.host;
  const bool is_usual = origin.port == (origin.tls ? 443 : 80);
  return is_usual ? host : fmt::format("{}:{}", host, origin.port);
}

void append_target(const Options& options, const Request& request, std::string& out) {
  out.append(options.upstream_path).append(request.path);
  // "/x?" is another target than "/x".
  const bool has_question = request.query.data() == request.path.data() + request.path.size() + 1;
  if (!request.query.empty() || has_question) out.append("?").append(request.query);
}

// Whoever is on this machine is a proxy of ours and is believed; anybody else could say anything.
void append_forwarded(const Request& request, std::string& out) {
  const bool is_believed = request.peer->is_loopback;
  std::string line;
  if (is_believed) {
    for (const auto& each : request.headers) {
      if (!iequals(each.name, "X-Forwarded-For")) continue;
      if (!line.empty()) line += ", ";
      line += each.value;
    }
  }
  if (request.peer->address != "unix") {
    if (!line.empty()) line += ", ";
    line += request.peer->address;
  }
  if (!line.empty()) append_field("X-Forwarded-For", line, out);
  const auto proto = is_believed ? request.header("X-Forwarded-Proto") : std::string_view();
  append_field("X-Forwarded-Proto",
               !proto.empty()               ? proto
               : request.peer->is_encrypted ? "https"
                                            : "http",
               out);
  const auto host = is_believed ? request.header("X-Forwarded-Host") : std::string_view();
  append_field("X-Forwarded-Host", host.empty() ? request.host : host, out);
}

bool tells_length(const Request& request) {
  return request.has_body || request.method == Method::post || request.method == Method::put ||
         request.method_text == "PATCH" || request.has_header("Content-Length");
}

}  // namespace

void HopFields::add_named(std::string_view connection) {
  while (!connection.empty()) {
    const auto comma = std::min(connection.find(','), connection.size());
    auto word = connection.substr(0, comma);
    connection.remove_prefix(std::min(comma + 1, connection.size()));
    while (!word.empty() && (word.front() == ' ' || word.front() == '\t')) word.remove_prefix(1);
    while (!word.empty() && (word.back() == ' ' || word.back() == '\t')) word.remove_suffix(1);
    if (!word.empty()) named_.push_back(word);
  }
}

bool HopFields::contains(std::string_view name) const {
  return is_one_of(name, of_one_hop) || names(name);
}

bool HopFields::names(std::string_view word) const {
  return std::ranges::any_of(named_, [&](std::string_view each) { return iequals(each, word); });
}

std::string forwarded(const Options& options, const Request& request) {
  std::string out;
  std::size_t size = 256 + options.upstream_path.size() + request.path.size() +
                     request.query.size() + request.body.size() + 2 * request.host.size();
  HopFields hop;
  for (const auto& each : request.headers) {
    size += each.name.size() + each.value.size() + 4;
    if (iequals(each.name, "Connection")) hop.add_named(each.value);
  }
  out.reserve(size);
  out.append(request.method_text).append(" ");
  append_target(options, request, out);
  out.append(" HTTP/1.1\r\n");
  const bool keeps_host = options.host == HostRule::keep && !request.host.empty();
  append_field("Host", keeps_host ? request.host : authority_of(options.upstream), out);
  for (const auto& each : request.headers) {
    if (is_one_of(each.name, made_anew) || hop.contains(each.name)) continue;
    append_field(each.name, each.value, out);
  }
  append_forwarded(request, out);
  out.append("Via: 1.1 holdfast\r\n");
  if (tells_length(request)) {
    fmt::format_to(std::back_inserter(out), "Content-Length: {}\r\n", request.body.size());
  }
  out.append("\r\n").append(request.body);
  return out;
}

}  // namespace holdfast::guard
