// SPDX-License-Identifier: Apache-2.0
#include "server/config_json.hpp"

#include "text/json_parse.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string>

namespace holdfast::server {

namespace {

namespace json = boost::json;
using text::ConfigNode;

// A few anchors that refer to each other stand for millions of values.
constexpr std::size_t max_values = 10'000;

template <typename Number>
std::optional<Number> parsed(std::string_view text) {
  Number value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

json::value scalar(const ConfigNode& node) {
  const auto& text = node.scalar();
  if (node.is_quoted()) return json::value(text);
  if (text == "null" || text == "~" || text.empty()) return nullptr;
  if (text == "true" || text == "false") return text == "true";
  if (const auto whole = parsed<std::int64_t>(text)) return *whole;
  if (const auto number = parse_number(text)) return *number;
  return json::value(text);
}

class Converter {
 public:
  Result<json::value> convert(const ConfigNode& node, std::size_t depth) {
    if (depth > text::max_json_depth) {
      return refuse(fmt::format("is nested deeper than {} levels", text::max_json_depth));
    }
    if (++values_ > max_values) return refuse(fmt::format("has more than {} values", max_values));
    if (node.is_list()) return array(node, depth);
    if (node.is_map()) return object(node, depth);
    return node.is_scalar() ? scalar(node) : json::value(nullptr);
  }

 private:
  static std::unexpected<Error> refuse(std::string why) {
    return fail(Errc::bad_input, std::move(why));
  }

  Result<json::value> array(const ConfigNode& node, std::size_t depth) {
    json::array out;
    for (const auto& each : node.elements()) {
      auto element = convert(each, depth + 1);
      if (!element) return element;
      out.push_back(std::move(*element));
    }
    return out;
  }

  Result<json::value> object(const ConfigNode& node, std::size_t depth) {
    json::object out;
    for (const auto& each : node.entries()) {
      if (!each.key.is_scalar()) return refuse("has a key that is not a word");
      auto member = convert(each.value, depth + 1);
      if (!member) return member;
      if (!out.emplace(each.key.scalar(), std::move(*member)).second) {
        return refuse(fmt::format("has the key \"{}\" twice", each.key.scalar()));
      }
    }
    return out;
  }

  std::size_t values_ = 0;
};

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  const auto value = parsed<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

Result<json::value> to_json(const text::ConfigNode& node) { return Converter().convert(node, 0); }

}  // namespace holdfast::server
