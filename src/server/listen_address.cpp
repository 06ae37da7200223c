// SPDX-License-Identifier: Apache-2.0
#include "server/listen_address.hpp"

#include "text/quote.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace holdfast::server {
namespace {

constexpr std::string_view unix_scheme = "unix:";
// The kernel wants a zero byte behind it.
constexpr std::size_t max_unix_path_bytes = sizeof(sockaddr_un{}.sun_path) - 1;

std::unexpected<Error> refuse_address(std::string_view text, std::string_view rule) {
  return fail(Errc::bad_input, fmt::format("{} {}", text::quoted(text), rule));
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

Result<ListenAddress> parse_unix(std::string_view text) {
  const auto path = text.substr(unix_scheme.size());
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (!path.starts_with('/') || path.ends_with('/') || std::ranges::any_of(path, is_control)) {
    return refuse_address(text,
                          "must name a socket by its absolute path, as in unix:/run/holdfast.sock");
  }
  if (path.size() > max_unix_path_bytes) {
    return refuse_address(text,
                          fmt::format("has a path of more than {} bytes", max_unix_path_bytes));
  }
  ListenAddress address;
  address.unix_path = path;
  return address;
}

bool set_ipv4(ListenAddress& address, const std::string& host) {
  in_addr binary{};
  if (inet_pton(AF_INET, host.c_str(), &binary) != 1) return false;
  address.host = host;  // inet_pton takes no other form of the same address
  address.is_loopback = (ntohl(binary.s_addr) >> 24U) == 127;
  return true;
}

bool set_ipv6(ListenAddress& address, const std::string& host) {
  in6_addr binary{};
  if (inet_pton(AF_INET6, host.c_str(), &binary) != 1) return false;
  std::array<char, INET6_ADDRSTRLEN> shortest{};
  inet_ntop(AF_INET6, &binary, shortest.data(), shortest.size());
  address.host = shortest.data();
  address.is_loopback = IN6_IS_ADDR_LOOPBACK(&binary);
  return true;
}

}  // namespace

Result<ListenAddress> parse_listen(std::string_view text) {
  if (text.starts_with(unix_scheme)) return parse_unix(text);
  const auto colon = text.rfind(':');
  auto host = std::string(text.substr(0, colon));
  const bool has_brackets = host.size() > 2 && host.starts_with('[') && host.ends_with(']');
  if (colon == std::string_view::npos || (host.contains(':') && !has_brackets)) {
    return refuse_address(text, "must be ADDRESS:PORT, [IPV6]:PORT or unix:/PATH");
  }
  // A zero byte would end the address early for inet_pton.
  const bool has_zero = host.contains('\0');
  ListenAddress address;
  const bool is_known = has_brackets ? set_ipv6(address, host.substr(1, host.size() - 2))
                                     : set_ipv4(address, host == "localhost" ? "127.0.0.1" : host);
  if (!is_known || has_zero) {
    return refuse_address(text,
                          "must begin with an IP address or localhost; 0.0.0.0 and [::] mean all");
  }
  const auto port = parse_port(text.substr(colon + 1));
  if (!port)
    return refuse_address(text, "must end with a port from 0 to 65535; 0 means any that is free");
  address.port = *port;
  return address;
}

std::string to_string(const ListenAddress& address) {
  if (!address.unix_path.empty()) return fmt::format("{}{}", unix_scheme, address.unix_path);
  const bool is_ipv6 = address.host.contains(':');
  return is_ipv6 ? fmt::format("[{}]:{}", address.host, address.port)
                 : fmt::format("{}:{}", address.host, address.port);
}

}  // namespace holdfast::server
