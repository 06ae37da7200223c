// SPDX-License-Identifier: Apache-2.0
#include "server/config_forrst_function.hpp"

#include "server/config_values.hpp"
#include "text/quote.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace holdfast::server {
namespace {

using forrst::Function;
using forrst::Rule;
using std::chrono::milliseconds;
using Value = ConfigValue;

constexpr std::size_t max_length = std::size_t{1} << 20U;  // of a text or a list: a whole request

Result<void> read_length(const Value& value, std::optional<std::size_t>& out) {
  return value.read_count(out.emplace(), {0, max_length});
}

Result<void> read_type(const Value& value, Rule::Type& out) {
  using enum Rule::Type;
  return value.read_choice(out, {{"any", any},
                                 {"boolean", boolean},
                                 {"integer", integer},
                                 {"number", number},
                                 {"string", string},
                                 {"array", array},
                                 {"object", object}});
}

Result<void> read_rule(std::string_view key, const Value& value, Rule& out) {
  if (key == "type") return read_type(value, out.type);
  if (key == "required") return value.read(out.is_required);
  if (key == "description") return value.read_text(out.description);
  if (key == "minimum") return value.read_number(out.minimum.emplace());
  if (key == "maximum") return value.read_number(out.maximum.emplace());
  if (key == "min_length") return read_length(value, out.min_length);
  if (key == "max_length") return read_length(value, out.max_length);
  if (key == "one_of") return value.read_texts(out.one_of);
  if (key == "default") return value.read_json(out.by_default.emplace());
  return value.refuse_key(key);
}

Result<void> read_argument(std::string_view name, const Value& about, std::vector<Rule>& out) {
  out.emplace_back().name = name;
  return read_entries(about, out.back(), read_rule);
}

Result<void> read_reason(std::string_view key, const Value& value, Function::Deprecation& out) {
  if (key == "reason") return value.read_text(out.reason);
  if (key == "sunset") return value.read_text(out.sunset);
  return value.refuse_key(key);
}

Result<void> read_deprecated(const Value& value, std::optional<Function::Deprecation>& out) {
  auto& about = out.emplace();
  auto read = read_entries(value, about, read_reason);
  if (read && about.reason.empty()) return value.refuse("needs reason");
  return read;
}

Result<void> read_extension_list(std::string_view key, const Value& value, Function& out) {
  if (key == "supported") return value.read_texts(out.supported_extensions);
  if (key == "excluded") return value.read_texts(out.excluded_extensions);
  return value.refuse_key(key);
}

Result<void> read_extensions(const Value& value, Function& out) {
  auto read = read_entries(value, out, read_extension_list);
  const bool says_both = !out.supported_extensions.empty() && !out.excluded_extensions.empty();
  if (read && says_both) return value.refuse("must have supported or excluded, not both");
  return read;
}

Result<void> read_field(std::string_view key, const Value& value, ForrstFunction& out) {
  auto& about = out.about;
  if (key == "name") return value.read_text(about.name);
  if (key == "version") return value.read_text(about.version);
  if (key == "description") return value.read_text(about.description);
  if (key == "upstream") return value.read_text(out.upstream);
  if (key == "command") return value.read_texts(out.command);
  if (key == "timeout") {
    return value.read_duration(about.timeout, {milliseconds(1), forrst::max_function_timeout});
  }
  if (key == "arguments") return read_entries(value, about.arguments, read_argument);
  if (key == "allow_more") return value.read(about.allows_more);
  if (key == "side_effects") return value.read_texts(about.side_effects);
  if (key == "deprecated") return read_deprecated(value, about.deprecated);
  if (key == "extensions") return read_extensions(value, about);
  if (key == "rate_limit") return read_rate(value, about.rate_limit);
  if (key == "safe_to_repeat") return value.read(about.safe_to_repeat);
  if (key == "disabled") return value.read(about.is_disabled);
  return value.refuse_key(key);
}

Result<void> refuse_function(const ForrstFunction& function, std::string_view rule) {
  return fail(Errc::bad_input,
              fmt::format("function {}: {}", text::quoted(function.about.name), rule));
}

// With a slash in it, it would depend on where the server was started.
bool is_program(std::string_view word) {
  return word.starts_with('/') || (!word.empty() && !word.contains('/'));
}

Result<void> check_work(const ForrstFunction& function) {
  const auto& command = function.command;
  if (function.upstream.empty() == command.empty()) {
    return refuse_function(function, "needs upstream or command, and not both");
  }
  if (!function.upstream.empty()) {
    const auto good = check_upstream(function.upstream);
    return good ? good : refuse_function(function, "upstream: " + good.error().message);
  }
  if (command.size() > max_command_words) {
    return refuse_function(function,
                           fmt::format("command: must have at most {} words", max_command_words));
  }
  if (!is_program(command.front())) {
    return refuse_function(
        function,
        "command: the program must be an absolute path, or a name that is looked up in "
        "PATH");
  }
  return {};
}

bool is_date(std::string_view text) {
  constexpr std::string_view form = "0000-00-00";
  const auto fits = [](char c, char as) { return as == '-' ? c == '-' : c >= '0' && c <= '9'; };
  return text.size() == form.size() && std::ranges::equal(text, form, fits);
}

// What the registry does is not looked at here.
forrst::Outcome nothing(const forrst::Invocation&) { return nullptr; }

}  // namespace

Result<void> read_function(const Value& value, ForrstFunction& out) {
  return read_entries(value, out, read_field);
}

Result<void> check_function(const ForrstFunction& function, forrst::Registry& others) {
  auto about = function.about;
  about.handler = nothing;
  if (auto good = others.add(std::move(about)); !good) return good;
  const auto& deprecated = function.about.deprecated;
  if (deprecated && !deprecated->sunset.empty() && !is_date(deprecated->sunset)) {
    return refuse_function(function, "deprecated.sunset: must be a date, such as 2027-01-31");
  }
  return check_work(function);
}

}  // namespace holdfast::server
