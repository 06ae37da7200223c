// SPDX-License-Identifier: Apache-2.0
#include "n8n/workflow.hpp"

#include "n8n/json_text.hpp"
#include "n8n/workflow_check.hpp"

#include <algorithm>
#include <cctype>
#include <functional>

namespace holdfast::n8n {
namespace {

namespace json = boost::json;

std::string_view text_at(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string_view(value->get_string()) : "";
}

bool is_disabled(const json::object& node) {
  const auto* value = node.if_contains("disabled");
  return value != nullptr && value->is_bool() && value->get_bool();
}

// n8n's own triggers are called so, but for a few that are older than the rule.
bool has_name_of_trigger(std::string_view type) {
  constexpr std::string_view others[] = {"webhook", "cron", "interval", "start", "emailreadimap"};
  std::string name(type.substr(type.rfind('.') + 1));
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name.ends_with("trigger") || std::ranges::find(others, name) != std::end(others);
}

bool is_of_n8n(std::string_view type) {
  return type.starts_with("n8n-nodes-base.") || type.starts_with("@n8n/");
}

using Visit =
    std::function<void(std::string_view kind, std::string_view from, std::string_view to)>;

void each_connection(const json::object& connections, const Visit& visit) {
  for (const auto& [from, kinds] : connections) {
    for (const auto& [kind, outputs] : kinds.get_object()) {
      for (const auto& output : outputs.get_array()) {
        if (!output.is_array()) continue;
        for (const auto& target : output.get_array()) {
          visit(kind, from, target.get_object().at("node").get_string());
        }
      }
    }
  }
}

// A loop ends at its output "done", which has changed its place.
std::size_t done_output(const json::object& loop) {
  const auto* version = loop.if_contains("typeVersion");
  const bool is_old =
      version != nullptr && version->is_number() && version->to_number<double>() < 3;
  return is_old ? 1 : 0;
}

}  // namespace

std::string_view type_of(const json::object& node) { return text_at(node, "type"); }
std::string_view name_of(const json::object& node) { return text_at(node, "name"); }

bool waits_for_all(const json::object& merge) {
  const auto* parameters = merge.if_contains("parameters");
  return parameters != nullptr && parameters->is_object() &&
         text_at(parameters->get_object(), "mode") == "chooseBranch";
}

Result<Workflow> Workflow::parse(std::string_view text, std::string_view file_name) {
  auto value = parse_json(text, file_name);
  if (!value) return std::unexpected(std::move(value.error()));
  auto root = checked_workflow(std::move(*value), file_name);
  if (!root) return std::unexpected(std::move(root.error()));
  return Workflow(std::move(*root));
}

std::string Workflow::text() const { return to_text(root_); }

std::string Workflow::name() const { return std::string(text_at(root_, "name")); }

void Workflow::add(json::array more) {
  for (auto& node : more) mutable_nodes().push_back(std::move(node));
}

const json::object* Workflow::find(std::string_view node) const {
  for (const auto& each : nodes()) {
    if (name_of(each.get_object()) == node) return &each.get_object();
  }
  return nullptr;
}

Place Workflow::place_of(std::string_view node) const {
  const auto* object = find(node);
  const auto* position = object == nullptr ? nullptr : object->if_contains("position");
  if (position == nullptr) return {};
  const auto& pair = position->get_array();
  return {pair[0].to_number<double>(), pair[1].to_number<double>()};
}

void Workflow::shift_right(double by, const std::set<std::string>& but) {
  for (auto& each : mutable_nodes()) {
    auto& node = each.get_object();
    auto* position = node.if_contains("position");
    if (position == nullptr || but.contains(std::string(name_of(node)))) continue;
    auto& x = position->get_array()[0];
    x = number(x.to_number<double>() + by);
  }
}

std::vector<std::string> Workflow::triggers() const {
  std::set<std::string, std::less<>> led_to;
  std::set<std::string, std::less<>> parts_of_agents;
  std::set<std::string, std::less<>> leading;
  each_connection(root_.at("connections").get_object(), [&](auto kind, auto from, auto to) {
    if (kind != "main") return void(parts_of_agents.emplace(from));
    led_to.emplace(to);
    leading.emplace(from);
  });
  std::vector<std::string> out;
  for (const auto& each : nodes()) {
    const auto& node = each.get_object();
    const auto type = type_of(node);
    const auto name = name_of(node);
    if (type == type_sticky_note || is_disabled(node) || parts_of_agents.contains(name)) continue;
    // Others may call theirs what they like; then it is what starts something and is not started.
    const bool is_foreign = !is_of_n8n(type) && !led_to.contains(name) && leading.contains(name);
    if (has_name_of_trigger(type) || is_foreign) out.emplace_back(name);
  }
  return out;
}

std::vector<json::array> Workflow::outputs_of(std::string_view node) const {
  std::vector<json::array> out;
  const auto* kinds = root_.at("connections").get_object().if_contains(node);
  const auto* main = kinds == nullptr ? nullptr : kinds->get_object().if_contains("main");
  if (main == nullptr) return out;
  for (const auto& output : main->get_array()) {
    out.push_back(output.is_array() ? output.get_array() : json::array());
  }
  return out;
}

std::set<std::string> Workflow::behind(std::string_view node,
                                       const std::set<std::string>& but) const {
  std::set<std::string> seen{std::string(node)};
  std::vector<std::string> todo{std::string(node)};
  while (!todo.empty()) {
    const auto from = std::move(todo.back());
    todo.pop_back();
    for (const auto& output : outputs_of(from)) {
      for (const auto& target : output) {
        std::string to(target.get_object().at("node").get_string());
        if (!but.contains(to) && seen.insert(to).second) todo.push_back(std::move(to));
      }
    }
  }
  return seen;
}

std::vector<End> Workflow::ends_behind(std::string_view node) const {
  const auto reached = behind(node);
  std::vector<End> out;
  for (const auto& each : nodes()) {
    const auto& object = each.get_object();
    std::string name(name_of(object));
    if (name == node || !reached.contains(name) || type_of(object) == type_stop) continue;
    const auto outputs = outputs_of(name);
    const auto leads = [](const json::array& output) { return !output.empty(); };
    if (std::ranges::none_of(outputs, leads)) {
      out.push_back({std::move(name), 0});
      continue;
    }
    const auto done = done_output(object);
    const bool has_done = done < outputs.size() && leads(outputs[done]);
    if (type_of(object) == type_split_in_batches && !has_done) {
      out.push_back({std::move(name), done});
    }
  }
  return out;
}

}  // namespace holdfast::n8n
