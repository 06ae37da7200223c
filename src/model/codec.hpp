// SPDX-License-Identifier: Apache-2.0
//
// LockState as bytes; the format is docs/state-format.md.
#pragma once

#include "model/lock_state.hpp"

#include <string>
#include <string_view>

namespace holdfast::model {

inline constexpr std::uint8_t state_format = 2;
// Of every lock in which nobody was told to come, so that older versions read it.
inline constexpr std::uint8_t format_without_offer = 1;

// Replaces `out`; its capacity is reused.
void encode(const LockState& state, std::string& out);

// Errors: unavailable, naming what is wrong (truncated, newer format, field out of range). Never
// reads outside of `bytes` and never allocates more than they justify.
Result<LockState> decode(std::string_view bytes);

}  // namespace holdfast::model
