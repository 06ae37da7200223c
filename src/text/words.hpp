// SPDX-License-Identifier: Apache-2.0
//
// The words for kinds, orders and rate limits, the same on the command line, in JSON and in URLs.
#pragma once

#include <holdfast/rates.hpp>
#include <holdfast/runs.hpp>
#include <holdfast/view.hpp>

#include <optional>
#include <string_view>

namespace holdfast::text {

// "mutex", "reentrant", "read_write", "semaphore", "election".
std::string_view to_word(Kind kind) noexcept;
std::optional<Kind> parse_kind(std::string_view word) noexcept;

// "automatic", "fifo", "barging".
std::string_view to_word(Order order) noexcept;
std::optional<Order> parse_order(std::string_view word) noexcept;

// As to_string(MemberView::State) has it.
std::optional<MemberView::State> parse_member_state(std::string_view word) noexcept;

// As to_string has them.
std::optional<RateAlgorithm> parse_rate_algorithm(std::string_view word) noexcept;
std::optional<RateLayout> parse_rate_layout(std::string_view word) noexcept;

}  // namespace holdfast::text
