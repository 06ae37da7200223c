// SPDX-License-Identifier: Apache-2.0
#include "n8n/nodes.hpp"

#include "n8n/placeholders.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <utility>

namespace holdfast::n8n {

namespace json = boost::json;

json::value number(double value) {
  if (value == std::trunc(value)) return static_cast<std::int64_t>(value);
  return value;
}

json::object make_node(const NodeHead& head, json::object parameters) {
  return {{"id", uuid_placeholder(head.slug)},
          {"name", head.name},
          {"type", head.type},
          {"typeVersion", number(head.version)},
          {"position", {number(head.place.x), number(head.place.y)}},
          {"parameters", std::move(parameters)}};
}

json::object code_node(std::string_view slug, std::string_view name, Place place,
                       std::string_view code) {
  while (code.ends_with('\n')) code.remove_suffix(1);
  return make_node({slug, name, type_code, 2, place},
                   {{"language", "javaScript"}, {"jsCode", code}});
}

json::object is_true(std::string_view slug, std::string_view expression) {
  return {{"id", uuid_placeholder(slug)},
          {"leftValue", expression},
          {"rightValue", true},
          {"operator", {{"type", "boolean"}, {"operation", "true"}, {"singleValue", true}}}};
}

json::object if_node(std::string_view slug, std::string_view name, Place place,
                     std::string_view expression) {
  const json::object options{
      {"caseSensitive", true}, {"leftValue", ""}, {"typeValidation", "strict"}, {"version", 2}};
  json::array conditions;
  conditions.push_back(is_true(fmt::format("{}-condition", slug), expression));
  return make_node(
      {slug, name, type_if, 2.2, place},
      {{"conditions", {{"options", options}, {"conditions", conditions}, {"combinator", "and"}}},
       {"options", json::object()}});
}

json::object stop_node(std::string_view slug, std::string_view name, Place place,
                       std::string_view message) {
  return make_node({slug, name, type_stop, 1, place}, {{"errorMessage", message}});
}

json::object redis_node(std::string_view slug, std::string_view name, Place place,
                        json::object parameters) {
  auto node = make_node({slug, name, type_redis, 1, place}, std::move(parameters));
  node["credentials"] = {{"redis",
                          {{"id", env_placeholder("credentials.redis.id")},
                           {"name", env_placeholder("credentials.redis.name")}}}};
  return node;
}

json::object delete_node(std::string_view slug, std::string_view name, Place place,
                         std::string_view key) {
  return redis_node(slug, name, place, {{"operation", "delete"}, {"key", key}});
}

json::object call_node(std::string_view slug, std::string_view name, Place place,
                       std::string_view key, json::object inputs) {
  return make_node({slug, name, type_execute_workflow, 1.2, place},
                   {{"source", "database"},
                    {"workflowId",
                     {{"__rl", true},
                      {"value", env_placeholder(fmt::format("workflows.{}.id", key))},
                      {"mode", "id"}}},
                    {"workflowInputs",
                     {{"mappingMode", "defineBelow"},
                      {"value", std::move(inputs)},
                      {"matchingColumns", json::array()},
                      {"schema", json::array()}}},
                    {"options", json::object()}});
}

json::array& Wires::output(std::string_view from, std::size_t number) {
  auto& entry = connections_[from];
  if (!entry.is_object()) entry = json::object();
  auto& main = entry.get_object()["main"];
  if (!main.is_array()) main = json::array();
  auto& outputs = main.get_array();
  while (outputs.size() <= number) outputs.push_back(json::array());
  if (!outputs[number].is_array()) outputs[number] = json::array();
  return outputs[number].get_array();
}

void Wires::join(std::string_view from, std::size_t output_number, std::string_view to,
                 std::size_t input) {
  output(from, output_number)
      .push_back(json::object{{"node", to}, {"type", "main"}, {"index", input}});
}

}  // namespace holdfast::n8n
