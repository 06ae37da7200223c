// SPDX-License-Identifier: Apache-2.0
#include "n8n/nodes.hpp"
#include "n8n/primitives/build.hpp"

namespace holdfast::n8n {
namespace {

namespace json = boost::json;

void add_search(json::array& nodes) {
  nodes.push_back(error_trigger("eh-trigger"));
  nodes.push_back(code_node("eh-prepare", "Prepare Scope List", {208, 0},
                            code_of("error_handler_lock_cleanup/prepare_scope_list")));
  nodes.push_back(
      if_node("eh-has-scopes", "Has Scopes?", {432, 0}, "={{ $json.cleanup_terminal !== true }}"));
  nodes.push_back(redis_node("eh-get-meta", "GET Scope Meta", {656, -96},
                             {{"operation", "get"},
                              {"propertyName", "LOCK_META"},
                              {"key", "={{ $json.meta_key }}"},
                              {"keyType", "string"},
                              {"options", json::object()}}));
  nodes.push_back(code_node("eh-filter", "Filter Owned Scopes", {880, -96},
                            code_of("error_handler_lock_cleanup/filter_owned_scopes")));
}

void add_removal(json::array& nodes) {
  nodes.push_back(
      if_node("eh-owned", "Owned?", {1104, -96}, "={{ $json.should_release === true }}"));
  nodes.push_back(
      delete_node("eh-del-counter", "DEL Owned Counter", {1552, -192}, "={{ $json.key }}"));
  nodes.push_back(
      delete_node("eh-del-meta", "DEL Owned Meta", {1328, -192}, "={{ $json.meta_key }}"));
  nodes.push_back(code_node("eh-log", "Log Cleanup", {1776, 0},
                            code_of("error_handler_lock_cleanup/log_cleanup")));
}

}  // namespace

Graph error_handler_lock_cleanup() {
  Graph graph;
  add_search(graph.nodes);
  add_removal(graph.nodes);
  Wires wires(graph.connections);
  // The counter goes last, as in lock_release.
  wires.chain("Error Trigger", "Prepare Scope List", "Has Scopes?", "GET Scope Meta",
              "Filter Owned Scopes", "Owned?", "DEL Owned Meta", "DEL Owned Counter",
              "Log Cleanup");
  wires.join("Has Scopes?", 1, "Log Cleanup");
  wires.join("Owned?", 1, "Log Cleanup");
  return graph;
}

}  // namespace holdfast::n8n
