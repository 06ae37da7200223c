// SPDX-License-Identifier: Apache-2.0
#include "n8n/workflow_check.hpp"

#include "n8n/limits.hpp"
#include "text/quote.hpp"

#include <fmt/format.h>

#include <set>
#include <string>

namespace holdfast::n8n {
namespace {

namespace json = boost::json;
using Names = std::set<std::string, std::less<>>;

class Check {
 public:
  explicit Check(std::string_view file_name) : file_name_(file_name) {}

  std::unexpected<Error> refuse(std::string_view reason) const {
    return fail(Errc::bad_input, fmt::format("{}: {}", file_name_, reason));
  }

  Result<Names> nodes(const json::array& nodes) const {
    if (nodes.size() > max_workflow_nodes) {
      return fail(Errc::limit_reached,
                  fmt::format("{}: has more than {} nodes (max_workflow_nodes)", file_name_,
                              max_workflow_nodes));
    }
    Names names;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto* node = nodes[i].if_object();
      if (node == nullptr) return refuse(fmt::format("nodes[{}] must be an object", i));
      for (const auto* field : {"name", "type"}) {
        const auto* value = node->if_contains(field);
        if (value == nullptr || !value->is_string() || value->get_string().empty()) {
          return refuse(fmt::format("nodes[{}].{} must be a text", i, field));
        }
      }
      const std::string name(node->at("name").get_string());
      if (!names.insert(name).second) {
        return refuse(fmt::format("two nodes have the name {}", text::quoted(name)));
      }
      if (auto placed = place(*node, name); !placed) return std::unexpected(placed.error());
    }
    return names;
  }

  Result<void> connections(const json::object& connections, const Names& names) const {
    for (const auto& [from, kinds] : connections) {
      if (!names.contains(std::string_view(from))) {
        return refuse(
            fmt::format("connections: there is no node {} to lead from", text::quoted(from)));
      }
      if (!kinds.is_object()) return refuse(malformed(from));
      for (const auto& [kind, outputs] : kinds.get_object()) {
        if (!outputs.is_array()) return refuse(malformed(from));
        for (const auto& output : outputs.get_array()) {
          if (auto fine = targets(output, from, names); !fine) return fine;
        }
      }
    }
    return {};
  }

 private:
  static std::string malformed(std::string_view from) {
    return fmt::format(
        "connections: those of {} must have the form {{\"main\": [[{{\"node\", \"type\", "
        "\"index\"}}]]}}",
        text::quoted(from));
  }

  Result<void> place(const json::object& node, std::string_view name) const {
    const auto* position = node.if_contains("position");
    if (position == nullptr) return {};
    const auto* pair = position->if_array();
    if (pair != nullptr && pair->size() == 2 && (*pair)[0].is_number() && (*pair)[1].is_number()) {
      return {};
    }
    return refuse(fmt::format("the position of {} must be two numbers", text::quoted(name)));
  }

  Result<void> targets(const json::value& output, std::string_view from, const Names& names) const {
    if (output.is_null()) return {};
    if (!output.is_array()) return refuse(malformed(from));
    for (const auto& target : output.get_array()) {
      const auto* object = target.if_object();
      const auto* to = object == nullptr ? nullptr : object->if_contains("node");
      if (to == nullptr || !to->is_string()) return refuse(malformed(from));
      const std::string_view name = to->get_string();
      if (!names.contains(name)) {
        return refuse(fmt::format("connections: {} leads to {}, and there is no such node",
                                  text::quoted(from), text::quoted(name)));
      }
    }
    return {};
  }

  std::string_view file_name_;
};

}  // namespace

Result<json::object> checked_workflow(json::value value, std::string_view file_name) {
  const Check check(file_name);
  if (value.is_array()) return check.refuse("is a list; give a file with one workflow");
  auto* root = value.if_object();
  if (root == nullptr) return check.refuse("is not a workflow: it must be a JSON object");
  const auto* nodes = root->if_contains("nodes");
  if (nodes == nullptr || !nodes->is_array()) {
    return check.refuse("is not a workflow: nodes must be a list");
  }
  const auto* connections = root->if_contains("connections");
  if (connections == nullptr || !connections->is_object()) {
    return check.refuse("is not a workflow: connections must be an object");
  }
  const auto names = check.nodes(nodes->get_array());
  if (!names) return std::unexpected(names.error());
  if (auto fine = check.connections(connections->get_object(), *names); !fine) {
    return std::unexpected(std::move(fine.error()));
  }
  const auto* settings = root->if_contains("settings");
  if (settings != nullptr && !settings->is_object() && !settings->is_null()) {
    return check.refuse("settings must be an object");
  }
  return std::move(*root);
}

}  // namespace holdfast::n8n
