// SPDX-License-Identifier: Apache-2.0
#include "text/error_codes.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace holdfast {
namespace text {
namespace {

// Exit codes begin where sysexits.h has meanings that fit (64, 69, 75) and continue above it.
constexpr std::array<ErrorRow, 15> table{{
    {Errc::busy, "busy", 75, 409},
    {Errc::timed_out, "timed_out", 76, 408},
    {Errc::cancelled, "cancelled", 85, 499},
    {Errc::lost, "lost", 77, 410},
    {Errc::unavailable, "unavailable", 69, 503},
    {Errc::quorum_not_reached, "quorum_not_reached", 78, 503},
    {Errc::not_replicated, "not_replicated", 79, 503},
    {Errc::outcome_unknown, "outcome_unknown", 80, 504},
    {Errc::spec_mismatch, "spec_mismatch", 81, 409},
    {Errc::not_held, "not_held", 82, 404},
    {Errc::not_owner, "not_owner", 83, 403},
    {Errc::deadlock, "deadlock", 84, 409},
    {Errc::bad_input, "bad_input", 64, 400},
    {Errc::unsupported, "unsupported", 86, 422},
    {Errc::limit_reached, "limit_reached", 87, 429},
}};

constexpr bool in_order_of_the_enumeration() {
  for (std::size_t at = 0; at < table.size(); ++at) {
    if (static_cast<std::size_t>(table[at].code) != at + 1) return false;
  }
  return true;
}
static_assert(in_order_of_the_enumeration(), "row_of uses the code as an index");

const ErrorRow& row_of(Errc code) noexcept {
  const auto at = static_cast<std::size_t>(code) - 1;
  assert(at < table.size() && "every Errc has a row");
  return table[at];
}

}  // namespace

std::span<const ErrorRow> error_table() noexcept { return table; }

int exit_code(Errc code) noexcept { return row_of(code).exit_code; }

int http_status(Errc code) noexcept { return row_of(code).http_status; }

std::optional<Errc> parse_errc(std::string_view word) noexcept {
  const auto row = std::ranges::find(table, word, &ErrorRow::word);
  if (row == table.end()) return std::nullopt;
  return row->code;
}

}  // namespace text

std::string_view to_string(Errc code) noexcept { return text::row_of(code).word; }

}  // namespace holdfast
