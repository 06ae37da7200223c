// SPDX-License-Identifier: Apache-2.0
#include "cli/n8n/whole_number.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace holdfast::cli {

Option& add_whole(Syntax& syntax, std::string name, std::optional<std::int64_t>& value,
                  WholeRange range, std::string text) {
  const auto read = [&value, range](const std::string& typed) -> Result<void> {
    std::int64_t number = 0;
    const auto* const end = typed.data() + typed.size();
    const auto parsed = std::from_chars(typed.data(), end, number);
    const bool is_number = parsed.ec == std::errc() && parsed.ptr == end && !typed.empty();
    if (!is_number || number < range.least || number > range.most) {
      return fail(Errc::bad_input,
                  fmt::format("must be a whole number from {} to {}", range.least, range.most));
    }
    value = number;
    return {};
  };
  return syntax.option(std::move(name), read, "N", std::move(text));
}

}  // namespace holdfast::cli
