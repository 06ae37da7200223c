// SPDX-License-Identifier: Apache-2.0
#include "n8n/nodes.hpp"
#include "n8n/primitives/build.hpp"

namespace holdfast::n8n {

namespace json = boost::json;

Graph rate_limit_check() {
  Graph graph;
  auto& nodes = graph.nodes;
  nodes.push_back(called_trigger("rl-trigger", {{"inputSource", "passthrough"}}));
  nodes.push_back(code_node("rl-bucket", "Build Bucket Key", {208, 0},
                            code_of("rate_limit_check/build_bucket_key")));
  nodes.push_back(redis_node("rl-incr", "Redis INCR", {432, 0},
                             {{"operation", "incr"},
                              {"key", "={{ $json.key }}"},
                              {"expire", true},
                              {"ttl", "={{ $json.windowSeconds }}"},
                              {"options", json::object()}}));
  nodes.push_back(
      code_node("rl-result", "Build Result", {656, 0}, code_of("rate_limit_check/build_result")));
  Wires wires(graph.connections);
  wires.chain("Execute Workflow Trigger", "Build Bucket Key", "Redis INCR", "Build Result");
  return graph;
}

}  // namespace holdfast::n8n
