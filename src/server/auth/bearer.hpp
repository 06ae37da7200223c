// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace holdfast::server {

// The token of an Authorization header, "Bearer TOKEN" (RFC 6750): the scheme in any case, one
// space or more, and token68 characters. Nothing for anything else, such as another scheme, two
// tokens, or a space behind. The view is into the header.
std::optional<std::string_view> bearer_token(std::string_view authorization);

}  // namespace holdfast::server
