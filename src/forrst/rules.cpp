// SPDX-License-Identifier: Apache-2.0
#include "forrst/rules.hpp"

#include <holdfast/forrst/service.hpp>

#include "forrst/envelope.hpp"
#include "model/utf8.hpp"
#include "text/quote.hpp"

#include <boost/json/array.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace holdfast::forrst {

namespace {

namespace json = boost::json;
using Type = Rule::Type;

constexpr std::size_t max_argument_bytes = 200;
constexpr double max_exact = 9007199254740992.0;  // every integer up to it is a double

struct TypeRow {
  Type type;
  std::string_view word;
  std::string_view one;  // for messages
};

constexpr TypeRow types[] = {
    {Type::any, "any", "anything"},           {Type::boolean, "boolean", "a boolean"},
    {Type::integer, "integer", "an integer"}, {Type::number, "number", "a number"},
    {Type::string, "string", "a string"},     {Type::array, "array", "an array"},
    {Type::object, "object", "an object"},
};

const TypeRow& row_of(Type type) { return types[static_cast<std::size_t>(type)]; }

bool is_number(Type type) { return type == Type::integer || type == Type::number; }

bool is_integral(double number) {
  return std::trunc(number) == number && std::abs(number) <= max_exact;
}

bool has_type(const json::value& value, Type type) {
  switch (type) {
    case Type::any: return true;
    case Type::boolean: return value.is_bool();
    case Type::integer:
      return value.is_int64() || value.is_uint64() ||
             (value.is_double() && is_integral(*value.if_double()));
    case Type::number: return value.is_number();
    case Type::string: return value.is_string();
    case Type::array: return value.is_array();
    case Type::object: return value.is_object();
  }
  return false;
}

// Wide enough for every integer of JSON.
long double number_of(const json::value& value) {
  if (const auto* number = value.if_int64()) return static_cast<long double>(*number);
  if (const auto* number = value.if_uint64()) return static_cast<long double>(*number);
  const auto* number = value.if_double();
  return number != nullptr ? *number : 0;
}

// Characters, of a text that is UTF-8: its bytes but those that go on with one.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char each) { return (static_cast<unsigned char>(each) & 0xc0U) != 0x80; }));
}

// 1000000 and not 1e+06.
std::string in_digits(double number) {
  return is_integral(number) ? fmt::format("{}", static_cast<std::int64_t>(number))
                             : fmt::format("{}", number);
}

std::optional<std::string> break_of_length(std::size_t length, const Rule& rule) {
  const std::string_view what = rule.type == Type::array ? "elements" : "characters";
  if (rule.min_length && length < *rule.min_length) {
    return fmt::format("must have at least {} {}", *rule.min_length, what);
  }
  if (rule.max_length && length > *rule.max_length) {
    return fmt::format("must have at most {} {}", *rule.max_length, what);
  }
  return std::nullopt;
}

std::optional<std::string> break_of_text(std::string_view text, const Rule& rule) {
  if (auto broken = break_of_length(characters(text), rule)) return broken;
  if (rule.one_of.empty() || std::ranges::find(rule.one_of, text) != rule.one_of.end()) {
    return std::nullopt;
  }
  return fmt::format("must be one of {}", fmt::join(rule.one_of, ", "));
}

// What the value must be and is not.
std::optional<std::string> break_of(const json::value& value, const Rule& rule) {
  if (!has_type(value, rule.type)) {
    return fmt::format("must be {}{}", row_of(rule.type).one, value.is_null() ? ", not null" : "");
  }
  if (is_number(rule.type)) {
    const auto number = number_of(value);
    if (rule.minimum && number < *rule.minimum) {
      return fmt::format("must be at least {}", in_digits(*rule.minimum));
    }
    if (rule.maximum && number > *rule.maximum) {
      return fmt::format("must be at most {}", in_digits(*rule.maximum));
    }
  }
  if (rule.type == Type::string) {
    const auto* text = value.if_string();
    return break_of_text({text->data(), text->size()}, rule);
  }
  if (rule.type == Type::array) return break_of_length(value.if_array()->size(), rule);
  return std::nullopt;
}

Fault invalid(std::string_view name, std::string message) {
  return {.code = std::string(codes::invalid_arguments),
          .message = std::move(message),
          .pointer = pointer_to("/call/arguments", name)};
}

std::optional<Fault> check_argument(const Rule& rule, json::object& arguments) {
  auto* value = arguments.if_contains(for_json(rule.name));
  if (value == nullptr) {
    if (rule.is_required) return invalid(rule.name, fmt::format("{} is required", rule.name));
    if (rule.by_default) arguments.emplace(for_json(rule.name), *rule.by_default);
    return std::nullopt;
  }
  if (const auto broken = break_of(*value, rule)) {
    return invalid(rule.name, fmt::format("{} {}", rule.name, *broken));
  }
  // 5.0 is the integer 5, and functions need not know that there are two ways to write it.
  if (rule.type == Type::integer && value->is_double()) {
    *value = static_cast<std::int64_t>(*value->if_double());
  }
  return std::nullopt;
}

bool is_known(const Function& function, std::string_view name) {
  return std::ranges::find(function.arguments, name, &Rule::name) != function.arguments.end();
}

bool are_in_order(const auto& least, const auto& most) {
  return !least || !most || *least <= *most;
}

// What is wrong with a rule that has a name of its own.
std::optional<std::string> contradiction_in_bounds(const Rule& rule) {
  if ((rule.minimum || rule.maximum) && !is_number(rule.type)) {
    return "minimum and maximum belong to integers and numbers";
  }
  if ((rule.minimum && !std::isfinite(*rule.minimum)) ||
      (rule.maximum && !std::isfinite(*rule.maximum))) {
    return "minimum and maximum must be finite";
  }
  if (!are_in_order(rule.minimum, rule.maximum)) return "minimum must not be above maximum";
  if (rule.type == Type::integer && rule.minimum && rule.maximum &&
      std::ceil(*rule.minimum) > std::floor(*rule.maximum)) {
    return "there is no integer from minimum to maximum";
  }
  if ((rule.min_length || rule.max_length) && rule.type != Type::string &&
      rule.type != Type::array) {
    return "min_length and max_length belong to strings and arrays";
  }
  if (!are_in_order(rule.min_length, rule.max_length)) {
    return "min_length must not be above max_length";
  }
  return std::nullopt;
}

std::optional<std::string> contradiction_in_values(const Rule& rule) {
  if (!rule.one_of.empty() && rule.type != Type::string) return "one_of belongs to strings";
  for (const auto& each : rule.one_of) {
    if (model::mended(each, each.size()) != each) return "one_of must be UTF-8";
    if (std::ranges::count(rule.one_of, each) > 1) return "one_of has the same text twice";
    if (const auto broken = break_of_length(characters(each), rule)) {
      return fmt::format("one_of: {} {}", text::quoted(each), *broken);
    }
  }
  if (!rule.by_default) return std::nullopt;
  const auto broken = break_of(*rule.by_default, rule);
  return broken ? std::optional(fmt::format("by_default {}", *broken)) : std::nullopt;
}

json::value bound(double number) {
  if (is_integral(number)) return static_cast<std::int64_t>(number);
  return number;
}

json::object schema_of(const Rule& rule) {
  json::object schema;
  if (rule.type != Type::any) schema["type"] = for_json(to_string(rule.type));
  if (!rule.description.empty()) schema["description"] = rule.description;
  if (rule.minimum) schema["minimum"] = bound(*rule.minimum);
  if (rule.maximum) schema["maximum"] = bound(*rule.maximum);
  const bool is_array = rule.type == Type::array;
  if (rule.min_length) schema[is_array ? "minItems" : "minLength"] = *rule.min_length;
  if (rule.max_length) schema[is_array ? "maxItems" : "maxLength"] = *rule.max_length;
  if (!rule.one_of.empty()) schema["enum"] = json::array(rule.one_of.begin(), rule.one_of.end());
  if (rule.by_default) schema["default"] = *rule.by_default;
  return schema;
}

}  // namespace

std::vector<Fault> check_arguments(const Function& function, json::object& arguments) {
  std::vector<Fault> faults;
  const auto add = [&faults](Fault fault) {
    if (faults.size() < max_faults) faults.push_back(std::move(fault));
  };
  for (const auto& rule : function.arguments) {
    if (auto fault = check_argument(rule, arguments)) add(std::move(*fault));
  }
  if (function.allows_more) return faults;
  for (const auto& each : arguments) {
    const std::string_view name(each.key().data(), each.key().size());
    if (is_known(function, name)) continue;
    // The name may be as long as the request; the pointer has all of it.
    add(invalid(name, fmt::format("There is no argument {}", text::quoted(name))));
  }
  return faults;
}

Result<void> check_rules(const std::vector<Rule>& rules) {
  std::set<std::string_view> names;
  for (const auto& rule : rules) {
    const auto refuse = [&rule](std::string_view why) {
      return fail(Errc::bad_input, fmt::format("argument {}: {}", text::quoted(rule.name), why));
    };
    if (rule.name.empty() || rule.name.size() > max_argument_bytes ||
        model::mended(rule.name, rule.name.size()) != rule.name) {
      return refuse(fmt::format("name must be UTF-8 of 1 to {} bytes", max_argument_bytes));
    }
    if (!names.insert(rule.name).second) return refuse("two rules have this name");
    if (const auto why = contradiction_in_bounds(rule)) return refuse(*why);
    if (const auto why = contradiction_in_values(rule)) return refuse(*why);
  }
  return {};
}

json::object to_schema(const Function& function) {
  json::object properties;
  json::array required;
  for (const auto& rule : function.arguments) {
    properties[for_json(rule.name)] = schema_of(rule);
    if (rule.is_required) required.emplace_back(rule.name);
  }
  json::object schema{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  schema["additionalProperties"] = function.allows_more;
  return schema;
}

std::string_view to_string(Type type) noexcept { return row_of(type).word; }

std::optional<Type> parse_type(std::string_view word) {
  const auto* const found = std::ranges::find(types, word, &TypeRow::word);
  return found != std::end(types) ? std::optional(found->type) : std::nullopt;
}

}  // namespace holdfast::forrst
