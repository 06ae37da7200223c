// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/remote/token.hpp"
#include "net/http/client_message.hpp"
#include "text/url.hpp"

namespace holdfast::backends::remote {

struct Options {
  net::http::Origin origin;
  std::string token_source;  // for messages: where the token is
};

inline constexpr std::uint16_t default_port = 3009;

// http://HOST:PORT and https://HOST:PORT with token_file, token_env, timeout, socket, and for https
// also ca, cert, key and sni. Errors: bad_input with the option and the rule.
Result<Options> parse_options(const text::StoreUrl& url);

}  // namespace holdfast::backends::remote
