// SPDX-License-Identifier: Apache-2.0
#include <holdfast/locked_name.hpp>

#include <fmt/format.h>

#include <cstdlib>

namespace holdfast::detail {

// A pattern is read by the compiler first, so that none of these is ever called.
void a_name_pattern_has_a_brace_without_its_partner() { std::abort(); }
void a_name_pattern_has_only_places_like_these___or_0() { std::abort(); }
void a_name_pattern_is_either_numbered_or_not() { std::abort(); }
void a_name_pattern_asks_for_an_argument_that_is_not_there() { std::abort(); }
void a_name_pattern_asks_for_an_argument_that_has_no_text() { std::abort(); }

Result<std::string> fill_pattern(std::string_view pattern,
                                 std::span<const NameArgument> arguments) {
  std::string name;
  std::optional<Error> error;
  const auto refuse = [&](std::size_t place, std::string_view rule) {
    if (error) return;
    error = Error{Errc::bad_input, fmt::format("name '{}': argument {} {}", pattern, place, rule)};
  };
  const auto add = [&](std::size_t place) {
    if (place >= arguments.size()) return refuse(place, "is missing");
    const auto& argument = arguments[place];
    if (!argument.nameable) return refuse(place, "cannot be a part of a name");
    if (!argument.text) return refuse(place, "must not be empty");
    name += *argument.text;
  };
  read_pattern(pattern, [&](std::string_view text) { name += text; }, add);
  if (error) return std::unexpected(std::move(*error));
  return name;
}

}  // namespace holdfast::detail
