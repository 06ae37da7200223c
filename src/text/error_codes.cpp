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
    {Errc::busy, "busy", 75, 409, std::errc::device_or_resource_busy},
    {Errc::timed_out, "timed_out", 76, 408, std::errc::timed_out},
    {Errc::cancelled, "cancelled", 85, 499, std::errc::operation_canceled},
    {Errc::lost, "lost", 77, 410, std::errc::no_lock_available},
    {Errc::unavailable, "unavailable", 69, 503, std::errc::host_unreachable},
    {Errc::quorum_not_reached, "quorum_not_reached", 78, 503, std::errc::host_unreachable},
    {Errc::not_replicated, "not_replicated", 79, 503, std::errc::io_error},
    {Errc::outcome_unknown, "outcome_unknown", 80, 504, std::errc::io_error},
    {Errc::spec_mismatch, "spec_mismatch", 81, 409, std::errc::invalid_argument},
    {Errc::not_held, "not_held", 82, 404, std::errc::operation_not_permitted},
    {Errc::not_owner, "not_owner", 83, 403, std::errc::operation_not_permitted},
    {Errc::deadlock, "deadlock", 84, 409, std::errc::resource_deadlock_would_occur},
    {Errc::bad_input, "bad_input", 64, 400, std::errc::invalid_argument},
    {Errc::unsupported, "unsupported", 86, 422, std::errc::not_supported},
    {Errc::limit_reached, "limit_reached", 87, 429, std::errc::resource_unavailable_try_again},
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

class Category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "holdfast"; }
  std::string message(int code) const override {
    return is_ours(code) ? std::string(row_of(static_cast<Errc>(code)).word) : "unknown";
  }
  std::error_condition default_error_condition(int code) const noexcept override {
    if (!is_ours(code)) return {code, *this};
    return std::make_error_condition(row_of(static_cast<Errc>(code)).condition);
  }

 private:
  static bool is_ours(int code) {
    return code >= 1 && static_cast<std::size_t>(code) <= table.size();
  }
};

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

const std::error_category& error_category() noexcept {
  static const text::Category category;
  return category;
}

}  // namespace holdfast
