// SPDX-License-Identifier: Apache-2.0
#include "forrst/lock_key.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::forrst {

namespace {

constexpr std::size_t max_prefix_bytes = 64;

}  // namespace

bool has_key_letters_only(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return is_letter || (c >= '0' && c <= '9') || std::string_view("-_:.").contains(c);
  });
}

Result<void> check_prefix(std::string_view prefix) {
  const bool is_good = prefix.size() <= max_prefix_bytes && prefix.ends_with(':') &&
                       has_key_letters_only(prefix) && !prefix.contains(beside_a_lock);
  if (is_good) return {};
  return fail(
      Errc::bad_input,
      fmt::format("must be 1 to {} letters, digits and -_:. and end in a colon", max_prefix_bytes));
}

}  // namespace holdfast::forrst
