// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace holdfast::model {

// A number for an owner that anybody may see: the first 8 bytes, big-endian, of the SHA-256 of
// "holdfast party" and the token. Never 0. Costs half a microsecond, so it is for those who look at
// locks, not for those who take them.
std::uint64_t party_of(std::string_view owner);

}  // namespace holdfast::model
