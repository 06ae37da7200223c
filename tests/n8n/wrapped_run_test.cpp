// SPDX-License-Identifier: Apache-2.0
//
// What add-lock and add-rate-limit make of a workflow, run to its end.
#include "n8n/execution.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::test {
namespace {

namespace json = boost::json;

json::value under_lock(std::string_view flow, std::string_view scope, bool fail_fast = false) {
  auto workflow = workflow_of(flow);
  const auto env = env_of();
  const auto done = n8n::add_lock(
      workflow, {.scope = *n8n::normalise_scope(scope), .ttl_seconds = 600, .fail_fast = fail_fast},
      {.env = &env, .env_file = "env.yml"});
  if (!done) throw std::runtime_error(done.error().message);
  return workflow.root();
}

json::value with_limit(json::value flow, n8n::OnDenied on_denied) {
  auto workflow = workflow_of(json::serialize(flow));
  const auto env = env_of();
  const auto done = n8n::add_rate_limit(workflow,
                                        {.scope = *n8n::normalise_scope("=api-{{ $json.user }}"),
                                         .limit = 1,
                                         .window_seconds = n8n::max_workflow_seconds,
                                         .on_denied = on_denied},
                                        {.env = &env, .env_file = "env.yml"});
  if (!done) throw std::runtime_error(done.error().message);
  return workflow.root();
}

std::ptrdiff_t times(const std::vector<std::string>& ran, std::string_view name) {
  return std::ranges::count(ran, name);
}

// Start, then a Code node with that body.
json::value code_flow(std::string_view code) {
  auto flow = json::parse(plain_flow);
  auto& work = flow.at("nodes").at(1).as_object();
  work["type"] = "n8n-nodes-base.code";
  work["parameters"] = {{"language", "javaScript"}, {"jsCode", code}};
  return flow;
}

const json::array two_items{{{"id", 7}, {"size", 20}}, {{"id", 8}, {"size", 1}}};

TEST_F(Execution, of_a_workflow_under_a_lock_releases_the_scope_that_it_took) {
  const auto flow = under_lock(json::serialize(code_flow("return [{ json: { id: 99 } }];")),
                               "={{ 'file-' + $json.id }}");
  const auto result = perform_one({{"workflow", flow}, {"items", two_items}});
  EXPECT_EQ(error_of(result), "");
  const auto commands = commands_of(result);
  EXPECT_TRUE(commands.starts_with("INCR n8n-lock-file-7; EXPIRE n8n-lock-file-7 600; SET "));
  EXPECT_TRUE(commands.ends_with("DEL n8n-lock-file-7:meta; DEL n8n-lock-file-7")) << commands;
  EXPECT_EQ(item_of(result).at("idempotent"), false);
  EXPECT_EQ(keys(), 0);
}

TEST_F(Execution, of_a_workflow_under_a_lock_gets_all_items_of_the_trigger) {
  // Both what arrives, and what an item is linked to.
  const auto flow = under_lock(
      json::serialize(code_flow("if ($input.all().length !== 2) throw new Error('items');\n"
                                "$input.all().forEach((item, i) => {\n"
                                "  const same = $('Start').itemMatching(i).json.id;\n"
                                "  if (item.json.id !== 7 + i || same !== 7 + i) {\n"
                                "    throw new Error('item ' + i);\n  }\n});\n"
                                "return $input.all();")),
      "orders");
  const auto result = perform_one({{"workflow", flow}, {"items", two_items}});
  EXPECT_EQ(error_of(result), "");
  EXPECT_EQ(keys(), 0);
}

TEST_F(Execution, of_several_branches_releases_once_and_last) {
  const auto flow = under_lock(branched_flow, "orders");
  const auto both = ran(perform_one({{"workflow", flow}, {"items", two_items}}));
  for (const auto* name : {"Left", "Right", "Small", "Lock Acquire", "Lock Release"}) {
    EXPECT_EQ(times(both, name), 1) << name;
  }
  EXPECT_EQ(both.back(), "Lock Release");
  // Two of three branches have nothing to do.
  const auto small = ran(perform_one({{"workflow", flow}, {"items", {{{"id", 1}, {"size", 1}}}}}));
  EXPECT_EQ(times(small, "Left"), 0);
  EXPECT_EQ(times(small, "Small"), 1);
  EXPECT_EQ(times(small, "Lock Release"), 1);
  EXPECT_EQ(small.back(), "Lock Release");
  EXPECT_EQ(keys(), 0);
}

TEST_F(Execution, of_a_branch_that_ends_without_an_item_still_releases) {
  auto flow = json::parse(plain_flow);
  flow.at("nodes").at(1).as_object()["type"] = "n8n-nodes-base.testDropAll";
  const auto result = perform_one(
      {{"workflow", under_lock(json::serialize(flow), "orders")}, {"items", two_items}});
  EXPECT_EQ(times(ran(result), "Lock Release"), 1);
  EXPECT_EQ(keys(), 0);
}

TEST_F(Execution, of_many_branches_releases_once_and_last) {
  auto flow = json::parse(plain_flow).as_object();
  auto& nodes = flow["nodes"].as_array();
  auto& targets = flow["connections"].at("Start").at("main").at(0).as_array();
  for (int i = 0; i < 24; ++i) {
    const auto name = fmt::format("Work {}", i);
    // Every third has nothing to hand on.
    const auto* type = i % 3 == 0 ? "n8n-nodes-base.testDropAll" : "n8n-nodes-base.noOp";
    nodes.push_back({{"name", name},
                     {"type", type},
                     {"typeVersion", 1},
                     {"position", {220, 200 * (i + 1)}},
                     {"parameters", json::object()}});
    targets.push_back({{"node", name}, {"type", "main"}, {"index", 0}});
  }
  const auto result = perform_one(
      {{"workflow", under_lock(json::serialize(flow), "orders")}, {"items", two_items}});
  EXPECT_EQ(error_of(result), "");
  EXPECT_EQ(times(ran(result), "Lock Release"), 1);
  EXPECT_EQ(ran(result).back(), "Lock Release");
  EXPECT_EQ(times(ran(result), "Work 23"), 1);
  EXPECT_EQ(keys(), 0);
}

TEST_F(Execution, of_a_loop_releases_after_its_last_round) {
  const auto flow = under_lock(R"({"name": "Loop", "settings": {"executionOrder": "v1"}, "nodes": [
    {"name": "Start", "type": "n8n-nodes-base.manualTrigger", "position": [0, 0], "parameters": {}},
    {"name": "Each", "type": "n8n-nodes-base.splitInBatches", "typeVersion": 3,
     "position": [220, 0], "parameters": {}},
    {"name": "Body", "type": "n8n-nodes-base.noOp", "position": [440, 100], "parameters": {}},
    {"name": "Aside", "type": "n8n-nodes-base.noOp", "position": [660, 300], "parameters": {}}],
    "connections": {"Start": {"main": [[{"node": "Each", "type": "main", "index": 0}]]},
      "Each": {"main": [[], [{"node": "Body", "type": "main", "index": 0}]]},
      "Body": {"main": [[{"node": "Each", "type": "main", "index": 0},
                         {"node": "Aside", "type": "main", "index": 0}]]}}})",
                               "orders");
  const auto result = perform_one({{"workflow", flow}, {"items", two_items}});
  EXPECT_EQ(times(ran(result), "Body"), 2) << "once for each item";
  EXPECT_EQ(times(ran(result), "Aside"), 2);
  EXPECT_EQ(times(ran(result), "Lock Release"), 1);
  EXPECT_EQ(ran(result).back(), "Lock Release");
  EXPECT_EQ(keys(), 0);
}

TEST_F(Execution, of_a_merge_of_which_one_branch_is_idle_releases_behind_it) {
  // n8n runs such a Merge at the very end, when the release is the only other thing to run.
  auto flow = json::parse(branched_flow);
  auto& nodes = flow.at("nodes").as_array();
  nodes.push_back({{"name", "Together"},
                   {"type", "n8n-nodes-base.merge"},
                   {"position", {660, 0}},
                   {"parameters", {{"mode", "append"}}}});
  nodes.push_back({{"name", "After"},
                   {"type", "n8n-nodes-base.noOp"},
                   {"position", {880, 0}},
                   {"parameters", json::object()}});
  auto& connections = flow.at("connections").as_object();
  n8n::Wires wires(connections);
  wires.join("Left", 0, "Together", 0);
  wires.join("Small", 0, "Together", 1);
  wires.join("Together", 0, "After");
  const auto result = perform_one({{"workflow", under_lock(json::serialize(flow), "orders")},
                                   {"items", {{{"id", 1}, {"size", 1}}}}});
  EXPECT_EQ(error_of(result), "");
  EXPECT_EQ(times(ran(result), "After"), 1);
  EXPECT_EQ(times(ran(result), "Lock Release"), 1);
  EXPECT_EQ(ran(result).back(), "Lock Release");
  EXPECT_EQ(keys(), 0);
}

TEST_F(Execution, of_a_trigger_with_two_outputs_goes_on_where_it_began) {
  const auto flow = under_lock(two_outputs_flow, "orders");
  for (const int output : {0, 1}) {
    const auto result = perform_one({{"workflow", flow}, {"items", two_items}, {"output", output}});
    EXPECT_EQ(error_of(result), "");
    EXPECT_EQ(times(ran(result), "On Get"), output == 0 ? 1 : 0);
    EXPECT_EQ(times(ran(result), "On Post"), output);
    EXPECT_EQ(times(ran(result), "Lock Release"), 1);
  }
  EXPECT_EQ(keys(), 0);
}

TEST_F(Execution, of_one_workflow_under_a_lock_excludes_another_run_of_it) {
  auto flow = json::parse(R"({"name": "Alone", "settings": {"executionOrder": "v1"}, "nodes": [
    {"name": "Start", "type": "n8n-nodes-base.manualTrigger", "position": [0, 0], "parameters": {}},
    {"name": "Enter", "type": "n8n-nodes-base.redis", "position": [220, 0],
     "parameters": {"operation": "incr", "key": "inside"}},
    {"name": "Check", "type": "n8n-nodes-base.code", "position": [440, 0],
     "parameters": {"language": "javaScript",
       "jsCode": "if ($input.first().json.inside !== 1) throw new Error('two');\nreturn $input.all();"}},
    {"name": "Pause", "type": "n8n-nodes-base.testPause", "position": [660, 0],
     "parameters": {"ms": 150}},
    {"name": "Leave", "type": "n8n-nodes-base.redis", "position": [880, 0],
     "parameters": {"operation": "delete", "key": "inside"}}],
    "connections": {"Start": {"main": [[{"node": "Enter", "type": "main", "index": 0}]]},
      "Enter": {"main": [[{"node": "Check", "type": "main", "index": 0}]]},
      "Check": {"main": [[{"node": "Pause", "type": "main", "index": 0}]]},
      "Pause": {"main": [[{"node": "Leave", "type": "main", "index": 0}]]}}})");
  const auto locked = under_lock(json::serialize(flow), "alone");
  std::vector<Object> runs;
  for (int i = 0; i < 3; ++i) {
    runs.push_back(
        {{"workflow", locked}, {"items", two_items}, {"execution", fmt::format("{}", i)}});
  }
  for (const auto& result : perform(runs)) EXPECT_EQ(error_of(result), "");
  EXPECT_EQ(keys(), 0);
  // And who does not want to wait is told so.
  raw_.call({"SET", "n8n-lock-alone", "1"});
  const auto refused = perform_one(
      {{"workflow", under_lock(json::serialize(flow), "alone", true)}, {"items", two_items}});
  EXPECT_TRUE(error_of(refused).starts_with("Lock acquisition failed (fail-fast): scope 'alone'"));
  EXPECT_EQ(times(ran(refused), "Enter"), 0);
}

TEST_F(Execution, of_a_failure_under_a_lock_is_cleaned_up_by_the_error_workflow) {
  const auto flow = under_lock(json::serialize(code_flow("throw new Error('broken');")), "orders");
  const auto failed =
      perform_one({{"workflow", flow}, {"items", two_items}, {"execution", "4711"}});
  EXPECT_EQ(error_of(failed), "broken");
  EXPECT_EQ(keys(), 2) << "the lock and its meta";
  const auto cleaned = perform_one({{"workflow", primitive("error_handler_lock_cleanup")},
                                    {"items", {{{"execution", {{"id", "4711"}}}}}}});
  EXPECT_EQ(item_of(cleaned).at("scopes"), (json::array{"orders"}));
  EXPECT_EQ(keys(), 0);
}

TEST_F(Execution, of_a_workflow_with_a_rate_limit_lets_through_only_so_many) {
  const json::array ann{{{"user", "ann"}, {"n", 1}}, {{"user", "ann"}, {"n", 2}}};
  const auto check = code_flow(
      "if ($input.all().length !== 2 || $input.all()[1].json.n !== 2) {\n"
      "  throw new Error('items');\n}\nreturn [{ json: { done: true } }];");
  struct Mode {
    n8n::OnDenied on_denied;
    std::string error;
  };
  const std::string says = "Rate limit exceeded for scope=api-ann (count=2, limit=1)";
  for (const auto& mode : {Mode{n8n::OnDenied::passthrough, ""}, Mode{n8n::OnDenied::stop, says}}) {
    const auto flow = with_limit(check, mode.on_denied);
    const auto results = perform({{{"workflow", flow}, {"items", ann}},
                                  {{"workflow", flow}, {"items", ann}, {"after", {0}}}});
    EXPECT_EQ(item_of(results[0]).at("done"), true);
    EXPECT_EQ(error_of(results[1]), mode.error);
    EXPECT_EQ(times(ran(results[1]), "Work"), 0);
    if (mode.error.empty()) {
      EXPECT_EQ(json::serialize(item_of(results[1])),
                R"({"allowed":false,"scope":"api-ann","count":2,"limit":1})");
    }
    raw_.call({"FLUSHALL"});
  }
}

TEST_F(Execution, of_a_rate_limit_and_a_lock_asks_the_limit_first) {
  const auto flow = with_limit(under_lock(branched_flow, "orders"), n8n::OnDenied::passthrough);
  const auto results = perform({{{"workflow", flow}, {"items", two_items}},
                                {{"workflow", flow}, {"items", two_items}, {"after", {0}}}});
  EXPECT_EQ(error_of(results[0]), "");
  EXPECT_EQ(times(ran(results[0]), "Left"), 1);
  EXPECT_EQ(ran(results[0]).back(), "Lock Release");
  EXPECT_EQ(times(ran(results[1]), "Lock Acquire"), 0);
  EXPECT_EQ(item_of(results[1]).at("allowed"), false);
}

}  // namespace
}  // namespace holdfast::test
