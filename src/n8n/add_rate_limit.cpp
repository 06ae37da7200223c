// SPDX-License-Identifier: Apache-2.0
#include "n8n/add_rate_limit.hpp"

#include "n8n/placeholders.hpp"

#include <fmt/format.h>

namespace holdfast::n8n {
namespace {

namespace json = boost::json;

constexpr std::string_view check_name = "Rate Limit";
constexpr std::string_view allowed_name = "Rate Limit Allowed?";
constexpr std::string_view denied_name = "Rate Limit Denied";
constexpr std::string_view stop_name = "Rate Limit Stop";

json::object check_node(const RateLimitWish& wish, Place place) {
  auto node = call_node(
      "rate-limit", check_name, place, "rate_limit_check",
      {{"scope", wish.scope.text}, {"limit", wish.limit}, {"windowSeconds", wish.window_seconds}});
  node["executeOnce"] = true;
  return node;
}

json::object allowed_node(Place place) {
  json::array conditions;
  conditions.push_back(is_true("rate-limit-allowed-condition", "={{ $json.allowed === true }}"));
  const json::object options{
      {"caseSensitive", true}, {"leftValue", ""}, {"typeValidation", "strict"}};
  return make_node(
      {"rate-limit-allowed", allowed_name, type_if, 2, place},
      {{"conditions", {{"options", options}, {"conditions", conditions}, {"combinator", "and"}}},
       {"options", json::object()}});
}

json::object assignment(std::string_view name, json::value value, std::string_view type) {
  return {{"id", uuid_placeholder(fmt::format("rate-limit-denied-{}", name))},
          {"name", name},
          {"value", std::move(value)},
          {"type", type}};
}

json::object denied_node(Place place) {
  json::array fields;
  fields.push_back(assignment("allowed", false, "boolean"));
  fields.push_back(assignment("scope", "={{ $json.scope }}", "string"));
  fields.push_back(assignment("count", "={{ $json.count }}", "number"));
  fields.push_back(assignment("limit", "={{ $json.limit }}", "number"));
  return make_node(
      {"rate-limit-denied", denied_name, "n8n-nodes-base.set", 3.4, place},
      {{"assignments", {{"assignments", std::move(fields)}}}, {"options", json::object()}});
}

json::object turn_away_node(OnDenied on_denied, Place place) {
  if (on_denied == OnDenied::passthrough) return denied_node(place);
  return stop_node("rate-limit-stop", stop_name, place,
                   "=Rate limit exceeded for scope={{ $json.scope }} "
                   "(count={{ $json.count }}, limit={{ $json.limit }})");
}

// The trigger's items behind the gate. A Merge would keep the links of items as well, but with the
// older execution order it runs without its second input, and the gate would be open.
void lead_on(Workflow& workflow, std::string_view trigger, std::vector<json::array> taken,
             json::array& added) {
  const auto at = workflow.place_of(trigger);
  auto wires = workflow.wires();
  std::size_t number = 0;
  for (const auto output : used_outputs(taken)) {
    ++number;
    const auto name =
        number == 1 ? std::string(passed_name) : fmt::format("{} {}", passed_name, number);
    const auto y = at.y - static_cast<double>(number - 1) * row_height;
    added.push_back(repeat_node(fmt::format("rate-limit-passed-{}", number), name,
                                {at.x + 3 * column_width, y}, trigger, output));
    wires.join(trigger, output, check_name);
    wires.join(allowed_name, 0, name);
    if (output < taken.size()) wires.output(name, 0) = std::move(taken[output]);
  }
}

std::vector<std::string> notes_on(const RateLimitWish& wish, const Filling& filling) {
  std::vector<std::string> notes;
  if (wish.scope.remark) notes.push_back(*wish.scope.remark);
  if (!filling.as_template && filling.env == nullptr) {
    notes.emplace_back("the id of rate_limit_check is a placeholder; --env FILE.yml fills it in");
  }
  return notes;
}

}  // namespace

Result<std::vector<std::string>> add_rate_limit(Workflow& workflow, const RateLimitWish& wish,
                                                const Filling& filling) {
  if (auto fine = refuse_names(workflow, {check_name}, "it has a rate limit"); !fine) {
    return std::unexpected(std::move(fine.error()));
  }
  if (auto fine =
          refuse_names(workflow, {allowed_name, denied_name, stop_name, passed_name}, "rename it");
      !fine) {
    return std::unexpected(std::move(fine.error()));
  }
  const auto trigger = only_trigger(workflow);
  if (!trigger) return std::unexpected(trigger.error());
  auto changed = workflow;
  const auto at = changed.place_of(*trigger);
  changed.shift_right(3 * column_width, {*trigger});
  auto taken = take_outputs(changed, *trigger);
  json::array nodes;
  nodes.push_back(check_node(wish, {at.x + column_width, at.y}));
  nodes.push_back(allowed_node({at.x + 2 * column_width, at.y}));
  nodes.push_back(turn_away_node(wish.on_denied, {at.x + 3 * column_width, at.y + row_height}));
  auto wires = changed.wires();
  wires.chain(check_name, allowed_name);
  lead_on(changed, *trigger, std::move(taken), nodes);
  wires.join(allowed_name, 1, wish.on_denied == OnDenied::passthrough ? denied_name : stop_name);
  json::value added = std::move(nodes);
  if (auto done = fill(added, changed, filling); !done) {
    return std::unexpected(std::move(done.error()));
  }
  changed.add(std::move(added.get_array()));
  workflow = std::move(changed);
  return notes_on(wish, filling);
}

}  // namespace holdfast::n8n
