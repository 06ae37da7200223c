// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace holdfast::text {

// 64 hexadecimal digits.
std::string sha256_hex(std::string_view text);

}  // namespace holdfast::text
