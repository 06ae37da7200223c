// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace holdfast::backends::redis {

// One counter per database, for fences and places.
inline constexpr std::string_view counter_key = "hf:fence";
// A waiter's process is told through the channel of this prefix and its number.
inline constexpr std::string_view channel_prefix = "hf:";

}  // namespace holdfast::backends::redis
