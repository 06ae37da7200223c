// SPDX-License-Identifier: Apache-2.0
#include "n8n/primitives.hpp"

#include "n8n/code_files.hpp"
#include "n8n/nodes.hpp"
#include "n8n/placeholders.hpp"
#include "n8n/primitives/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <initializer_list>

namespace holdfast::n8n {
namespace {

namespace json = boost::json;

constexpr Primitive primitives[] = {
    {"lock_acquisition", "Lock Acquisition", "takes a lock, or waits for it"},
    {"lock_release", "Lock Release", "gives a lock back, if it is the caller's"},
    {"error_handler_lock_cleanup", "Error Handler Lock Cleanup",
     "gives back what a failed execution held"},
    {"rate_limit_check", "Rate Limit Check", "counts a call, and says whether it is one too many"},
};

Graph classic(std::string_view key) {
  if (key == "lock_acquisition") return lock_acquisition();
  if (key == "lock_release") return lock_release();
  if (key == "rate_limit_check") return rate_limit_check();
  assert(key == "error_handler_lock_cleanup");
  return error_handler_lock_cleanup();
}

json::object input(std::string_view name, std::string_view type = "") {
  json::object out{{"name", name}};
  if (!type.empty()) out["type"] = type;
  return out;
}

json::object inputs(std::initializer_list<json::object> fields) {
  json::array values;
  for (const auto& field : fields) values.push_back(field);
  return {{"workflowInputs", {{"values", std::move(values)}}}};
}

}  // namespace

std::span<const Primitive> all_primitives() { return primitives; }

const Primitive* find_primitive(std::string_view key) {
  const auto* const found = std::ranges::find(primitives, key, &Primitive::key);
  return found == std::end(primitives) ? nullptr : found;
}

std::string_view code_of(std::string_view file) {
  const auto* const found =
      std::ranges::find(code_files, file, &std::pair<std::string_view, std::string_view>::first);
  assert(found != std::end(code_files));
  return found->second;
}

json::object called_trigger(std::string_view slug, json::object parameters) {
  return make_node(
      {slug, "Execute Workflow Trigger", "n8n-nodes-base.executeWorkflowTrigger", 1.1, {-16, 0}},
      std::move(parameters));
}

json::object error_trigger(std::string_view slug) {
  return make_node({slug, "Error Trigger", "n8n-nodes-base.errorTrigger", 1, {-16, 0}}, {});
}

json::object acquisition_inputs() {
  return inputs({input("scope"), input("ttl_seconds", "number"), input("execution_id"),
                 input("wait_till_lock_released", "boolean"), input("max_wait_seconds", "number"),
                 input("lock_id"), input("workflow_id"), input("workflow_name")});
}

json::object release_inputs() { return inputs({input("scope"), input("lock_id")}); }

json::value make_primitive(const Primitive& primitive, const Style& style) {
  auto graph = style.server ? through_server(primitive, style) : classic(primitive.key);
  json::object out;
  if (style.has_id) out["id"] = env_placeholder(fmt::format("workflows.{}.id", primitive.key));
  out["name"] = fmt::format("{} {}{}", env_placeholder("displayName"), primitive.title,
                            env_placeholder("workflowNamePostfix"));
  // 'n8n import:workflow' fails on a workflow that does not say it.
  if (style.has_id) out["active"] = false;
  out["nodes"] = std::move(graph.nodes);
  out["connections"] = std::move(graph.connections);
  out["settings"] = {{"executionOrder", "v1"}};
  return out;
}

}  // namespace holdfast::n8n
