// SPDX-License-Identifier: Apache-2.0
#include "cli/n8n/whole_number.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace holdfast::cli {

CLI::Option* add_whole(CLI::App& app, const std::string& name, std::optional<std::int64_t>& value,
                       WholeRange range, std::string description) {
  const auto read = [&value, name, range](const std::string& text) {
    std::int64_t number = 0;
    const auto* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    const bool is_number = parsed.ec == std::errc() && parsed.ptr == end && !text.empty();
    if (!is_number || number < range.least || number > range.most) {
      throw CLI::ValidationError(
          name, fmt::format("must be a whole number from {} to {}", range.least, range.most));
    }
    value = number;
  };
  return app.add_option_function<std::string>(name, read, std::move(description))->type_name("N");
}

}  // namespace holdfast::cli
