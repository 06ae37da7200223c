// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include "text/url.hpp"

#include <string>

namespace holdfast::backends::remote {

// What proves to a server who we are, and where it was found.
struct Token {
  std::string secret;  // empty: none
  std::string where;   // "token_file \"/etc/holdfast/token\"", for messages
};

// From token_file=PATH or token_env=NAME. One line end behind it does not belong to it. Errors:
// bad_input, which names the file or the variable and never what is in it.
Result<Token> find_token(const text::StoreUrl& url);

}  // namespace holdfast::backends::remote
