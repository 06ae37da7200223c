// SPDX-License-Identifier: Apache-2.0
//
// Which keys a lock has. All keys of one lock share a cluster slot.
#pragma once

#include <holdfast/names.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::backends::redis {

// One counter per database, for fences and places.
inline constexpr std::string_view counter_key = "hf:fence";
// A waiter's process is told through the channel of this prefix and its number.
inline constexpr std::string_view channel_prefix = "hf:";

// "hf:{orders:42}", and with a suffix what lies beside it.
std::string native_key(const LockName& name);
std::optional<LockName> name_of_native_key(std::string_view key);

}  // namespace holdfast::backends::redis
