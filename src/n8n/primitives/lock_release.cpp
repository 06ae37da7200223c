// SPDX-License-Identifier: Apache-2.0
#include "n8n/nodes.hpp"
#include "n8n/primitives/build.hpp"

namespace holdfast::n8n {
namespace {

namespace json = boost::json;

constexpr std::string_view counter_key = "={{ $('Build Release Context').first().json.key }}";
constexpr std::string_view meta_key = "={{ $('Build Release Context').first().json.meta_key }}";

constexpr std::string_view mismatch =
    "=LOGIC ERROR: Lock held by {{ $json.workflow_name }} (id: {{ $json.workflow_id }}, "
    "execution: {{ $json.execution_id }}) since {{ $json.locked_at }}, "
    "not by lock_id={{ $json.provided_lock_id }}";

}  // namespace

Graph lock_release() {
  Graph graph;
  auto& nodes = graph.nodes;
  nodes.push_back(called_trigger("lr-trigger", release_inputs()));
  nodes.push_back(code_node("lr-build-context", "Build Release Context", {208, 0},
                            code_of("lock_release/build_release_context")));
  nodes.push_back(redis_node("lr-get-meta", "GET Lock Meta", {432, 0},
                             {{"operation", "get"},
                              {"propertyName", "LOCK_META"},
                              {"key", meta_key},
                              {"keyType", "string"},
                              {"options", json::object()}}));
  nodes.push_back(code_node("lr-verify", "Parse + Verify Ownership", {656, 0},
                            code_of("lock_release/parse_verify_ownership")));
  nodes.push_back(if_node("lr-match", "Match?", {880, 0}, "={{ $json.is_match }}"));
  nodes.push_back(delete_node("lr-del-counter", "DEL Lock Counter", {1328, -96}, counter_key));
  nodes.push_back(delete_node("lr-del-meta", "DEL Lock Meta", {1104, -96}, meta_key));
  nodes.push_back(
      code_node("lr-result", "Build Result", {1552, -96}, code_of("lock_release/build_result")));
  nodes.push_back(
      stop_node("lr-mismatch-stop", "Ownership Mismatch — Stop", {1104, 128}, mismatch));
  Wires wires(graph.connections);
  // The counter goes last, because it is what lets the next one in: whoever has come in by then
  // has written a meta of his own, which is not ours to delete.
  wires.chain("Execute Workflow Trigger", "Build Release Context", "GET Lock Meta",
              "Parse + Verify Ownership", "Match?", "DEL Lock Meta", "DEL Lock Counter",
              "Build Result");
  wires.join("Match?", 1, "Ownership Mismatch — Stop");
  return graph;
}

}  // namespace holdfast::n8n
