// SPDX-License-Identifier: Apache-2.0
//
// Small workflows to work on, and the files beside the tests.
#pragma once

#include "n8n/add_lock.hpp"
#include "n8n/env.hpp"
#include "n8n/insert.hpp"
#include "n8n/workflow.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace holdfast::test {

inline std::filesystem::path beside_the_tests(std::string_view name) {
  return std::filesystem::path(__FILE__).parent_path() / name;
}

inline std::string read_beside(std::string_view name) {
  std::ifstream file(beside_the_tests(name), std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + std::string(name));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline n8n::Workflow workflow_of(std::string_view text) {
  auto workflow = n8n::Workflow::parse(text, "flow.json");
  if (!workflow) throw std::runtime_error(workflow.error().message);
  return std::move(*workflow);
}

inline n8n::LockWish lock_on(std::string_view scope = "orders") {
  return {.scope = *n8n::normalise_scope(scope)};
}

// With every id that any workflow asks for.
inline constexpr std::string_view full_env =
    "displayName: Shop\n"
    "workflowNamePostfix: \" (test)\"\n"
    "credentials:\n"
    "  redis: {id: cred-redis, name: Redis of the shop}\n"
    "  holdfast: {id: cred-holdfast, name: Holdfast of the shop}\n"
    "workflows:\n"
    "  lock_acquisition: {id: wf-acquire}\n"
    "  lock_release: {id: wf-release}\n"
    "  error_handler_lock_cleanup: {id: wf-cleanup}\n"
    "  rate_limit_check: {id: wf-rate}\n"
    "lockScopes: [orders, reports]\n";

inline n8n::Env env_of(std::string_view yaml = full_env) {
  auto env = n8n::Env::parse(yaml, "env.yml");
  if (!env) throw std::runtime_error(env.error().message);
  return std::move(*env);
}

// Trigger, one step.
inline constexpr std::string_view plain_flow = R"({
  "name": "Plain",
  "nodes": [
    {"name": "Start", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1,
     "position": [0, 0], "parameters": {}},
    {"name": "Work", "type": "n8n-nodes-base.noOp", "typeVersion": 1,
     "position": [220, 0], "parameters": {}}
  ],
  "connections": {"Start": {"main": [[{"node": "Work", "type": "main", "index": 0}]]}},
  "settings": {"executionOrder": "v1"}
})";

// A decision of which one branch is drawn, and a branch of two.
inline constexpr std::string_view branched_flow = R"({
  "name": "Branched",
  "nodes": [
    {"name": "Start", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1,
     "position": [0, 0], "parameters": {}},
    {"name": "Is Big?", "type": "n8n-nodes-base.if", "typeVersion": 2.2, "position": [220, 0],
     "parameters": {"conditions": {"options": {"typeValidation": "strict", "version": 2},
       "conditions": [{"id": "1", "leftValue": "={{ $json.size > 10 }}", "rightValue": true,
         "operator": {"type": "boolean", "operation": "true", "singleValue": true}}],
       "combinator": "and"}, "options": {}}},
    {"name": "Left", "type": "n8n-nodes-base.testPause", "typeVersion": 1,
     "position": [440, -100], "parameters": {"ms": 50}},
    {"name": "Right", "type": "n8n-nodes-base.testPause", "typeVersion": 1,
     "position": [440, 100], "parameters": {"ms": 50}},
    {"name": "Small", "type": "n8n-nodes-base.noOp", "typeVersion": 1,
     "position": [440, 300], "parameters": {}},
    {"name": "Remember", "type": "n8n-nodes-base.stickyNote", "typeVersion": 1,
     "position": [0, -300], "parameters": {"content": "a note"}}
  ],
  "connections": {
    "Start": {"main": [[{"node": "Is Big?", "type": "main", "index": 0}]]},
    "Is Big?": {"main": [
      [{"node": "Left", "type": "main", "index": 0}, {"node": "Right", "type": "main", "index": 0}],
      [{"node": "Small", "type": "main", "index": 0}]]}
  },
  "settings": {"executionOrder": "v1"}
})";

// A webhook with an output for each method.
inline constexpr std::string_view two_outputs_flow = R"({
  "name": "Two Outputs",
  "nodes": [
    {"name": "Hook", "type": "n8n-nodes-base.webhook", "typeVersion": 2,
     "position": [0, 0], "parameters": {"multipleMethods": true}},
    {"name": "On Get", "type": "n8n-nodes-base.noOp", "typeVersion": 1,
     "position": [220, 0], "parameters": {}},
    {"name": "On Post", "type": "n8n-nodes-base.noOp", "typeVersion": 1,
     "position": [220, 200], "parameters": {}}
  ],
  "connections": {"Hook": {"main": [
    [{"node": "On Get", "type": "main", "index": 0}],
    [{"node": "On Post", "type": "main", "index": 0}]]}},
  "settings": {"executionOrder": "v1"}
})";

}  // namespace holdfast::test
