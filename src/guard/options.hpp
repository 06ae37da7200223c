// SPDX-License-Identifier: Apache-2.0
//
// Everything that can be set about `holdfast guard`.
#pragma once

#include <holdfast/fence_guard.hpp>

#include "guard/resource.hpp"
#include "net/http/client_message.hpp"
#include "net/http/listener.hpp"

namespace holdfast::guard {

inline constexpr std::size_t default_max_body_bytes = 1 << 20U;
// A body is kept until it is whole, so that a slow sender holds nobody up behind it.
inline constexpr std::size_t largest_max_body_bytes = 16 << 20U;
inline constexpr Duration default_upstream_timeout = std::chrono::seconds(30);
inline constexpr Duration min_upstream_timeout = std::chrono::milliseconds(100);
inline constexpr Duration max_upstream_timeout = std::chrono::hours(1);
// How long a check whose answer was lost is repeated, so that a store that is started again, or a
// connection that broke, costs a moment and no error.
inline constexpr Duration default_check_timeout = std::chrono::seconds(2);
inline constexpr Duration connect_timeout = std::chrono::seconds(5);
// Shorter than the 5 seconds after which many servers close: a request that meets a closing
// connection cannot be sent again.
inline constexpr Duration upstream_idle_timeout = std::chrono::seconds(4);
inline constexpr std::size_t max_idle_upstreams = 128;  // connections, of each thread
inline constexpr std::size_t max_answer_head_bytes = 32 * 1024;
inline constexpr std::size_t max_guard_connections = 10'000;

// What to do with a request that would change something and has no fence.
enum class Missing : std::uint8_t { refuse, pass };

// Which Host the upstream is told.
enum class HostRule : std::uint8_t { keep, upstream };

struct Options {
  net::http::Origin upstream;
  std::string upstream_path;  // before every path; empty or "/base"
  std::vector<net::http::Address> listen;
  ResourceRule resource;
  Duration keep = default_fence_keep;
  Missing missing = Missing::refuse;
  HostRule host = HostRule::keep;
  Duration upstream_timeout = default_upstream_timeout;
  Duration check_timeout = default_check_timeout;
  std::size_t max_body_bytes = default_max_body_bytes;
  unsigned threads = 1;
  Duration drain = std::chrono::seconds(10);
};

// "http://HOST[:PORT][/BASE]", "https://…" or "unix:/PATH". Errors: bad_input.
struct UpstreamUrl {
  net::http::Origin origin;
  std::string base;
};
Result<UpstreamUrl> parse_upstream(std::string_view url);

}  // namespace holdfast::guard
