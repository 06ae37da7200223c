// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::text {

// RFC 4648, with padding.
std::string to_base64(std::string_view bytes);
// Nothing for what to_base64 does not write: other letters, spaces, missing padding.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace holdfast::text
