// SPDX-License-Identifier: Apache-2.0
//
// The URL of several stores: redlock://MEMBER,MEMBER,…?OPTIONS.
#pragma once

#include "text/url.hpp"

namespace holdfast::text {

struct QuorumUrl {
  std::string scheme;
  // Without the options, which are meant for all of them. A member is [USER:PASSWORD@]HOST[:PORT]
  // [/DB], or a URL of its own without options, as rediss://HOST. A comma in a password is %2C.
  std::vector<StoreUrl> members;
  std::map<std::string, std::string, std::less<>> options;
};

bool is_quorum_url(std::string_view url);

// Errors: bad_input, as parse_store_url.
Result<QuorumUrl> parse_quorum_url(std::string_view url);

// Whether it is the URL of one store or of several; which options they have is not looked at.
Result<void> check_store_url(std::string_view url);

}  // namespace holdfast::text
