// SPDX-License-Identifier: Apache-2.0
#include "server/openapi/schema_text.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace holdfast::server {

namespace json = boost::json;

namespace {

std::string joined(const json::array& values, std::string (*word)(const json::value&)) {
  std::string out;
  for (const auto& each : values) {
    if (!out.empty()) out += " or ";
    out += word(each);
  }
  return out;
}

std::string code(const json::value& value) {
  const auto text = value.is_string() ? std::string(value.get_string()) : json::serialize(value);
  return fmt::format("<code>{}</code>", escaped(text));
}

std::string type_of_value(const json::value& schema) { return type_of(schema.as_object()); }

std::string bare_word(const json::value& word) { return escaped(word.as_string()); }

std::string_view last_segment(std::string_view reference) {
  return reference.substr(reference.rfind('/') + 1);
}

bool is_required(const json::object& schema, std::string_view name) {
  const auto* required = schema.if_contains("required");
  if (required == nullptr) return false;
  return std::ranges::any_of(required->as_array(), [name](const json::value& each) {
    return std::string_view(each.as_string()) == name;
  });
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char each : text) {
    switch (each) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += each;
    }
  }
  return out;
}

std::string prose(std::string_view text) {
  std::string out;
  bool is_code = false;
  for (;;) {
    const auto tick = text.find('`');
    out += escaped(text.substr(0, tick));
    if (tick == std::string_view::npos) return is_code ? out + "</code>" : out;
    is_code = !is_code;
    out += is_code ? "<code>" : "</code>";
    text.remove_prefix(tick + 1);
  }
}

std::string_view text_of(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains({key.data(), key.size()});
  return value != nullptr && value->is_string() ? std::string_view(value->get_string())
                                                : std::string_view();
}

const json::object& resolved(const json::object& document, const json::object& object) {
  auto path = text_of(object, "$ref");
  if (path.empty()) return object;
  path.remove_prefix(2);  // "#/"
  const auto* at = &document;
  while (!path.empty()) {
    const auto end = std::min(path.find('/'), path.size());
    at = &at->at({path.data(), end}).as_object();
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return *at;
}

std::string type_of(const json::object& schema) {
  if (const auto reference = text_of(schema, "$ref"); !reference.empty()) {
    const auto name = escaped(last_segment(reference));
    return fmt::format("<a href=\"#{}\">{}</a>", name, name);
  }
  for (const auto* key : {"allOf", "oneOf", "anyOf"}) {
    if (const auto* parts = schema.if_contains(key))
      return joined(parts->as_array(), type_of_value);
  }
  if (const auto* value = schema.if_contains("const")) return code(*value);
  if (const auto* values = schema.if_contains("enum")) return joined(values->as_array(), code);
  const auto* type = schema.if_contains("type");
  if (type == nullptr) return "anything";
  if (type->is_array()) return joined(type->get_array(), bare_word);
  if (type->as_string() == "array") return "list of " + type_of_value(schema.at("items"));
  return bare_word(*type);
}

std::string fields_of(const json::object& schema) {
  const auto* properties = schema.if_contains("properties");
  if (properties == nullptr) return {};
  std::string out = "<table>";
  for (const auto& each : properties->as_object()) {
    const auto& field = each.value().as_object();
    fmt::format_to(std::back_inserter(out),
                   "<tr><td><code>{}</code>{}</td><td>{}</td><td>{}</td></tr>", escaped(each.key()),
                   is_required(schema, each.key()) ? "" : "<i>?</i>", type_of(field),
                   prose(text_of(field, "description")));
  }
  return out + "</table>";
}

}  // namespace holdfast::server
