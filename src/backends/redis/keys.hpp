// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace holdfast::backends::redis {

// One counter per database, for fences and places.
inline constexpr std::string_view counter_key = "hf:fence";
// Around the name of a resource whose fences are checked. No lock has a key like that.
inline constexpr std::string_view guard_before = "hf:guard:{";
inline constexpr std::string_view guard_after = "}";
// Around the name of a limit in Holdfast's own layout.
inline constexpr std::string_view rate_before = "hf:rate:{";
inline constexpr std::string_view rate_after = "}";
// Before the key of a run, as NestJS RedisX has it by default.
inline constexpr std::string_view run_before = "idempotency:";
// A waiter's process is told through the channel of this prefix and its number.
inline constexpr std::string_view channel_prefix = "hf:";

}  // namespace holdfast::backends::redis
