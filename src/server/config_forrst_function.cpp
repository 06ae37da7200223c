// SPDX-License-Identifier: Apache-2.0
#include "server/config_forrst_function.hpp"

#include "server/config_values.hpp"
#include "text/quote.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace holdfast::server {
namespace {

using forrst::Function;
using forrst::Rule;
using std::chrono::milliseconds;
using Value = ConfigValue;

constexpr std::size_t max_length = std::size_t{1} << 20U;  // of a text or a list: a whole request

Value::Reader text(std::string& out) {
  return [&out](const Value& value) { return value.read_text(out); };
}

Value::Reader texts(std::vector<std::string>& out) {
  return [&out](const Value& value) { return value.read_texts(out); };
}

Value::Reader flag(bool& out) {
  return [&out](const Value& value) { return value.read(out); };
}

Value::Reader number(std::optional<double>& out) {
  return [&out](const Value& value) { return value.read_number(out.emplace()); };
}

Value::Reader length(std::optional<std::size_t>& out) {
  return [&out](const Value& value) { return value.read_count(out.emplace(), {0, max_length}); };
}

Result<void> read_type(const Value& value, Rule::Type& out) {
  using enum Rule::Type;
  constexpr std::array<std::pair<std::string_view, Rule::Type>, 7> types{{{"any", any},
                                                                          {"boolean", boolean},
                                                                          {"integer", integer},
                                                                          {"number", number},
                                                                          {"string", string},
                                                                          {"array", array},
                                                                          {"object", object}}};
  return value.read_choice<Rule::Type>(out, types);
}

Result<void> read_rule(const Value& value, Rule& out) {
  return value.read_map({
      {"type", [&](const Value& field) { return read_type(field, out.type); }},
      {"required", flag(out.is_required)},
      {"description", text(out.description)},
      {"minimum", number(out.minimum)},
      {"maximum", number(out.maximum)},
      {"min_length", length(out.min_length)},
      {"max_length", length(out.max_length)},
      {"one_of", texts(out.one_of)},
      {"default", [&](const Value& field) { return field.read_json(out.by_default.emplace()); }},
  });
}

Result<void> read_arguments(const Value& value, std::vector<Rule>& out) {
  return value.each_entry([&](const std::string& name, const Value& about) -> Result<void> {
    out.emplace_back().name = name;
    return read_rule(about, out.back());
  });
}

Result<void> read_deprecated(const Value& value, std::optional<Function::Deprecation>& out) {
  auto& about = out.emplace();
  auto read = value.read_map({{"reason", text(about.reason)}, {"sunset", text(about.sunset)}});
  if (read && about.reason.empty()) return value.refuse("needs reason");
  return read;
}

Result<void> read_extensions(const Value& value, Function& out) {
  auto read = value.read_map({{"supported", texts(out.supported_extensions)},
                              {"excluded", texts(out.excluded_extensions)}});
  const bool says_both = !out.supported_extensions.empty() && !out.excluded_extensions.empty();
  if (read && says_both) return value.refuse("must have supported or excluded, not both");
  return read;
}

Result<void> refuse(const ForrstFunction& function, std::string_view rule) {
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
    return refuse(function, "needs upstream or command, and not both");
  }
  if (!function.upstream.empty()) {
    const auto good = check_upstream(function.upstream);
    return good ? good : refuse(function, "upstream: " + good.error().message);
  }
  if (command.size() > max_command_words) {
    return refuse(function, fmt::format("command: must have at most {} words", max_command_words));
  }
  if (!is_program(command.front())) {
    return refuse(function,
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
  auto& about = out.about;
  return value.read_map({
      {"name", text(about.name)},
      {"version", text(about.version)},
      {"description", text(about.description)},
      {"upstream", text(out.upstream)},
      {"command", texts(out.command)},
      {"timeout",
       [&](const Value& field) {
         return field.read_duration(about.timeout, {milliseconds(1), forrst::max_function_timeout});
       }},
      {"arguments", [&](const Value& field) { return read_arguments(field, about.arguments); }},
      {"allow_more", flag(about.allows_more)},
      {"side_effects", texts(about.side_effects)},
      {"deprecated", [&](const Value& field) { return read_deprecated(field, about.deprecated); }},
      {"extensions", [&](const Value& field) { return read_extensions(field, about); }},
      {"rate_limit", [&](const Value& field) { return read_rate(field, about.rate_limit); }},
      {"safe_to_repeat", flag(about.safe_to_repeat)},
      {"disabled", flag(about.is_disabled)},
  });
}

Result<void> check_function(const ForrstFunction& function, forrst::Registry& others) {
  auto about = function.about;
  about.handler = nothing;
  if (auto good = others.add(std::move(about)); !good) return good;
  const auto& deprecated = function.about.deprecated;
  if (deprecated && !deprecated->sunset.empty() && !is_date(deprecated->sunset)) {
    return refuse(function, "deprecated.sunset: must be a date, such as 2027-01-31");
  }
  return check_work(function);
}

}  // namespace holdfast::server
