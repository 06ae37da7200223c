// SPDX-License-Identifier: Apache-2.0
//
// The same four over HTTP: one call, which the server makes atomic and fair, instead of a dozen
// nodes. Its answer goes to the caller as it is; the text of its refusal becomes the error of the
// workflow, so that callers see what they see with Redis nodes.
#include "n8n/nodes.hpp"
#include "n8n/placeholders.hpp"
#include "n8n/primitives/build.hpp"

#include <fmt/format.h>

namespace holdfast::n8n {
namespace {

namespace json = boost::json;

constexpr std::string_view ask_name = "Ask Holdfast";
constexpr std::string_view stop_node_name = "Refused — Stop";

struct Call {
  json::object trigger;
  std::string body;
  std::string timeout_ms;
};

// Longer than any answer takes that does not wait.
constexpr std::string_view short_timeout = "30000";

Call acquisition() {
  return {called_trigger("la-trigger", acquisition_inputs()),
          "={{ JSON.stringify({ scope: $json.scope || 'default', ttl_seconds: $json.ttl_seconds, "
          "execution_id: $json.execution_id || $execution.id, "
          "wait_till_lock_released: $json.wait_till_lock_released !== false, "
          "max_wait_seconds: $json.max_wait_seconds, lock_id: $json.lock_id || undefined, "
          "workflow_id: $json.workflow_id || 'unknown', "
          "workflow_name: $json.workflow_name || 'unknown' }) }}",
          // The server answers when the wait is over, and it is the server who ends it.
          "={{ 30000 + 1000 * (typeof $json.max_wait_seconds === 'number' ? "
          "$json.max_wait_seconds : 86400) }}"};
}

Call release() {
  return {called_trigger("lr-trigger", release_inputs()),
          "={{ JSON.stringify({ scope: $json.scope || 'default', lock_id: $json.lock_id }) }}",
          std::string(short_timeout)};
}

Call rate_limit() {
  return {called_trigger("rl-trigger", {{"inputSource", "passthrough"}}),
          "={{ JSON.stringify({ scope: $json.scope || 'default', limit: $json.limit, "
          "windowSeconds: $json.windowSeconds }) }}",
          std::string(short_timeout)};
}

Call cleanup() {
  return {error_trigger("eh-trigger"),
          "={{ JSON.stringify({ execution_id: String($json.execution?.id || $json.executionId || "
          "$execution.id || 'unknown'), lockScopes: " +
              env_placeholder("lockScopes") + " }) }}",
          std::string(short_timeout)};
}

Call call_of(std::string_view key) {
  if (key == "lock_acquisition") return acquisition();
  if (key == "lock_release") return release();
  if (key == "rate_limit_check") return rate_limit();
  return cleanup();
}

json::value timeout_of(const Call& call) {
  if (call.timeout_ms == short_timeout) return 30000;
  return json::value(call.timeout_ms);
}

json::object ask_node(const Primitive& primitive, const Style& style, const Call& call) {
  json::object parameters{{"method", "POST"},
                          {"url", fmt::format("{}/n8n/{}", *style.server, primitive.key)}};
  if (style.has_server_credential) {
    parameters["authentication"] = "genericCredentialType";
    parameters["genericAuthType"] = "httpHeaderAuth";
  }
  parameters["sendBody"] = true;
  parameters["specifyBody"] = "json";
  parameters["jsonBody"] = call.body;
  // A refusal is JSON of another content type, which n8n would not take for JSON by itself.
  parameters["options"] = {{"response", {{"response", {{"responseFormat", "json"}}}}},
                           {"timeout", timeout_of(call)}};
  auto node = make_node({"ask-holdfast", ask_name, "n8n-nodes-base.httpRequest", 4.2, {208, 0}},
                        std::move(parameters));
  node["executeOnce"] = true;
  node["onError"] = "continueErrorOutput";
  if (style.has_server_credential) {
    node["credentials"] = {{"httpHeaderAuth",
                            {{"id", env_placeholder("credentials.holdfast.id")},
                             {"name", env_placeholder("credentials.holdfast.name")}}}};
  }
  return node;
}

}  // namespace

Graph through_server(const Primitive& primitive, const Style& style) {
  const auto call = call_of(primitive.key);
  const std::string trigger(call.trigger.at("name").as_string());
  Graph graph;
  graph.nodes.push_back(call.trigger);
  graph.nodes.push_back(ask_node(primitive, style, call));
  graph.nodes.push_back(stop_node("refused-stop", stop_node_name, {432, 96},
                                  "={{ $json.error.error?.detail ?? $json.error.message }}"));
  Wires wires(graph.connections);
  wires.chain(trigger, ask_name);
  wires.join(ask_name, 1, stop_node_name);
  return graph;
}

}  // namespace holdfast::n8n
