// SPDX-License-Identifier: Apache-2.0
//
// What must be true of every graph that is generated, and where things are put.
#include "n8n/add_lock.hpp"
#include "n8n/add_rate_limit.hpp"
#include "n8n/json_text.hpp"
#include "n8n/placeholders.hpp"
#include "n8n/primitives.hpp"
#include "n8n/workflow_text.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace holdfast::test {
namespace {

namespace json = boost::json;
using n8n::Filling;
using n8n::Workflow;

n8n::RateLimitWish limit() {
  return {.scope = *n8n::normalise_scope("api"), .limit = 10, .window_seconds = 60};
}

// Parsing checks that names are unique, and that connections lead from and to nodes.
void expect_sound(const Workflow& workflow) {
  const auto again = Workflow::parse(workflow.text(), "again.json");
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(again->triggers().size(), 1U);
  const auto reached = again->behind(again->triggers().front());
  std::set<std::string> ids;
  std::set<std::pair<double, double>> places;
  for (const auto& each : again->nodes()) {
    const auto& node = each.get_object();
    const std::string name(n8n::name_of(node));
    if (n8n::type_of(node) == n8n::type_sticky_note) continue;
    EXPECT_TRUE(reached.contains(name)) << name << " never runs";
    const auto at = again->place_of(name);
    EXPECT_TRUE(places.emplace(at.x, at.y).second) << name << " lies on another node";
    if (const auto* id = node.if_contains("id")) {
      EXPECT_TRUE(ids.insert(std::string(id->as_string())).second) << name << " has another's id";
    }
  }
}

std::size_t count(const Workflow& workflow, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::count_if(
      workflow.nodes(), [&](const auto& node) { return n8n::name_of(node.get_object()) == name; }));
}

TEST(Primitives, have_sound_graphs) {
  for (const auto& each : n8n::all_primitives()) {
    SCOPED_TRACE(each.key);
    expect_sound(workflow_of(n8n::to_text(n8n::make_primitive(each, {}))));
    expect_sound(
        workflow_of(n8n::to_text(n8n::make_primitive(each, {.server = "http://localhost"}))));
  }
}

TEST(Primitives, have_as_many_nodes_as_their_pages_say) {
  const auto nodes = [](std::string_view key, const n8n::Style& style) {
    const auto made = n8n::make_primitive(*n8n::find_primitive(key), style);
    return made.at("nodes").as_array().size();
  };
  EXPECT_EQ(nodes("lock_acquisition", {}), 15U);
  EXPECT_EQ(nodes("lock_release", {}), 9U);
  EXPECT_EQ(nodes("rate_limit_check", {}), 4U);
  EXPECT_EQ(nodes("error_handler_lock_cleanup", {}), 9U);
  for (const auto& each : n8n::all_primitives()) {
    EXPECT_EQ(nodes(each.key, {.server = "http://localhost"}), 3U);
  }
}

TEST(Primitives, have_the_marker_on_every_code_node) {
  for (const auto& each : n8n::all_primitives()) {
    const auto made = n8n::make_primitive(each, {});
    for (const auto& node : made.at("nodes").as_array()) {
      if (node.at("type") != "n8n-nodes-base.code") continue;
      const std::string_view code = node.at("parameters").at("jsCode").as_string();
      EXPECT_TRUE(code.starts_with("// @n8n-evol-I:primitive\n")) << node.at("name");
      EXPECT_EQ(node.at("parameters").at("language"), "javaScript");
    }
  }
}

TEST(Primitives, are_the_same_every_time_and_differ_between_environments) {
  const auto made = [](std::string_view yaml) {
    json::array workflows{n8n::make_primitive(*n8n::find_primitive("lock_acquisition"), {})};
    return n8n::to_text(n8n::resolve(std::move(workflows), env_of(yaml), "env.yml")->at(0));
  };
  EXPECT_EQ(made(full_env), made(full_env));
  std::string other(full_env);
  other.replace(other.find("(test)"), 6, "(live)");
  const auto one = json::parse(made(full_env));
  const auto two = json::parse(made(other));
  for (std::size_t i = 0; i < 15; ++i) {
    EXPECT_NE(one.at("nodes").at(i).at("id"), two.at("nodes").at(i).at("id"));
  }
}

TEST(Resolve, names_everything_that_is_missing_at_once) {
  json::array workflows;
  for (const auto& each : n8n::all_primitives()) {
    workflows.push_back(n8n::make_primitive(each, {.has_id = true}));
  }
  const auto refused = n8n::resolve(std::move(workflows),
                                    env_of("credentials: {redis: {id: '', name: placeholder}}\n"
                                           "workflows: {lock_release: {id: your-id-here}, "
                                           "rate_limit_check: {id: 17}}\n"),
                                    "env.yml");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "env.yml: these are missing, or only examples: workflows.lock_acquisition.id, "
            "credentials.redis.id, credentials.redis.name, workflows.lock_release.id, "
            "workflows.error_handler_lock_cleanup.id");
}

TEST(Resolve, knows_the_other_form_of_a_placeholder_and_refuses_the_oldest) {
  json::value part = {{"a", "{{INTERPOLATE_env:workflows.lock_release.id}}-{{@env:displayName}}"}};
  ASSERT_TRUE(n8n::resolve_env(part, env_of(), "env.yml"));
  EXPECT_EQ(part.at("a"), "wf-release-Shop");
  for (const auto* old : {"{{@:env:displayName}}", "{{HYDRATE:env:displayName}}"}) {
    json::value other = {{"a", old}};
    const auto refused = n8n::resolve_env(other, env_of(), "env.yml");
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("old form of placeholder"), std::string::npos);
  }
}

TEST(Resolve, puts_lists_into_code_as_literals) {
  json::value part("const s = {{@env:lockScopes}};");
  ASSERT_TRUE(n8n::resolve_env(part, env_of("lockScopes: ['a\"b', c]\n"), "env.yml"));
  EXPECT_EQ(part, R"(const s = ["a\"b","c"];)");
  json::value none("const s = {{@env:lockScopes}};");
  ASSERT_TRUE(n8n::resolve_env(none, env_of("a: 1\n"), "env.yml"));
  EXPECT_EQ(none, "const s = [];");
}

TEST(AddLock, gives_sound_graphs_with_one_acquire_and_one_release) {
  for (const auto flow : {plain_flow, branched_flow, two_outputs_flow}) {
    auto workflow = workflow_of(flow);
    SCOPED_TRACE(workflow.name());
    ASSERT_TRUE(n8n::add_lock(workflow, lock_on(), {}));
    expect_sound(workflow);
    EXPECT_EQ(count(workflow, "Lock Acquire"), 1U);
    EXPECT_EQ(count(workflow, "Lock Release"), 1U);
    // Nothing but the release ends the workflow.
    const auto ends = workflow.ends_behind(workflow.triggers().front());
    ASSERT_EQ(ends.size(), 1U);
    EXPECT_EQ(ends.front().node, "Lock Release");
  }
}

TEST(AddLock, lets_nothing_run_that_is_not_behind_the_acquire) {
  for (const auto flow : {plain_flow, branched_flow, two_outputs_flow}) {
    auto workflow = workflow_of(flow);
    ASSERT_TRUE(n8n::add_lock(workflow, lock_on(), {}));
    const auto without =
        workflow.behind(workflow.triggers().front(), {"Lock Acquire", "Restore Trigger Data"});
    EXPECT_EQ(without.size(), 1U) << "the trigger alone";
  }
}

TEST(AddLock, puts_nodes_where_there_is_room) {
  auto workflow = workflow_of(branched_flow);
  ASSERT_TRUE(n8n::add_lock(workflow, lock_on(), {}));
  const auto x = [&](std::string_view name) { return workflow.place_of(name).x; };
  EXPECT_EQ(x("Start"), 0);
  EXPECT_EQ(x("Lock Acquire"), 220);
  EXPECT_EQ(x("Restore Trigger Data"), 440);
  EXPECT_EQ(x("Is Big?"), 660);
  EXPECT_EQ(x("Left"), 880);
  EXPECT_EQ(x("Remember"), 440);
  EXPECT_EQ(x("Branch Ends"), 1100);
  EXPECT_EQ(x("All Branches Done"), 1320);
  EXPECT_EQ(x("Lock Release"), 1540);
}

TEST(AddLock, to_a_trigger_alone_holds_the_lock_for_nothing) {
  auto workflow = workflow_of(
      R"({"nodes":[{"name":"T","type":"n8n-nodes-base.cron","position":[10,20]}],"connections":{}})");
  ASSERT_TRUE(n8n::add_lock(workflow, lock_on(), {}));
  expect_sound(workflow);
  EXPECT_EQ(workflow.place_of("Lock Release").x, 1110) << "a column each";
}

TEST(AddLock, leads_every_end_to_the_release) {
  auto workflow = workflow_of(branched_flow);
  const auto before = workflow.ends_behind("Start");
  ASSERT_EQ(before.size(), 3U);
  ASSERT_TRUE(n8n::add_lock(workflow, lock_on(), {}));
  for (const auto& end : before) {
    ASSERT_EQ(workflow.outputs_of(end.node).size(), 1U);
    EXPECT_EQ(workflow.outputs_of(end.node)[0].at(0).at("node"), "Branch Ends") << end.node;
  }
}

TEST(AddLock, to_a_circle_without_an_end_is_sound_too) {
  auto workflow = workflow_of(
      R"({"nodes":[{"name":"T","type":"n8n-nodes-base.cron","position":[0,0]},
      {"name":"A","type":"x.a","position":[220,0]},{"name":"B","type":"x.b","position":[440,0]}],
      "connections":{"T":{"main":[[{"node":"A","type":"main","index":0}]]},
      "A":{"main":[[{"node":"B","type":"main","index":0}]]},
      "B":{"main":[[{"node":"A","type":"main","index":0}]]}}})");
  ASSERT_TRUE(n8n::add_lock(workflow, lock_on(), {}));
  expect_sound(workflow);
}

TEST(AddLock, notes_what_may_keep_the_lock) {
  auto workflow = workflow_of(
      R"({"nodes":[{"name":"T","type":"n8n-nodes-base.cron","position":[0,0]},
      {"name":"M","type":"n8n-nodes-base.merge","position":[220,0],"parameters":{"mode":"chooseBranch"}},
      {"name":"S","type":"n8n-nodes-base.stopAndError","position":[440,0]}],
      "connections":{"T":{"main":[[{"node":"M","type":"main","index":0}]]},
      "M":{"main":[[{"node":"S","type":"main","index":0}]]}}})");
  const auto notes = n8n::add_lock(workflow, lock_on("={{ 'x' }}"), {.as_template = true});
  ASSERT_TRUE(notes);
  ASSERT_EQ(notes->size(), 3U);
  EXPECT_NE(notes->at(0).find("settings.executionOrder is not v1"), std::string::npos);
  EXPECT_NE(notes->at(1).find("\"S\" ends the workflow without giving"), std::string::npos);
  EXPECT_NE(notes->at(2).find("\"M\" waits for both of its branches"), std::string::npos);
}

TEST(AddLock, ends_a_loop_at_its_output_done) {
  const std::string loop =
      R"({"nodes":[{"name":"T","type":"n8n-nodes-base.cron","position":[0,0]},
          {"name":"Loop","type":"n8n-nodes-base.splitInBatches","typeVersion":VERSION,"position":[220,0]},
          {"name":"Body","type":"n8n-nodes-base.noOp","position":[440,100]}],
          "connections":{"T":{"main":[[{"node":"Loop","type":"main","index":0}]]},
          "Loop":{"main":OUTPUTS},
          "Body":{"main":[[{"node":"Loop","type":"main","index":0}]]}}})";
  const auto with = [&](std::string version, std::string outputs) {
    auto text = loop;
    text.replace(text.find("VERSION"), 7, version);
    text.replace(text.find("OUTPUTS"), 7, outputs);
    auto workflow = workflow_of(text);
    const auto ends = workflow.ends_behind("T");
    EXPECT_TRUE(n8n::add_lock(workflow, lock_on(), {}));
    return ends;
  };
  const auto now = with("3", R"([[],[{"node":"Body","type":"main","index":0}]])");
  ASSERT_EQ(now.size(), 1U);
  EXPECT_EQ(now.front().output, 0U);
  const auto before = with("1", R"([[{"node":"Body","type":"main","index":0}]])");
  ASSERT_EQ(before.size(), 1U);
  EXPECT_EQ(before.front().output, 1U);
}

TEST(AddLock, keeps_what_it_does_not_know_and_the_order_of_keys) {
  auto workflow = workflow_of(
      R"({"zeta":1.5,"nodes":[{"notes":"n","name":"T","type":"n8n-nodes-base.cron","position":[0.5,1]}],)"
      R"("pinData":{"T":[{"json":{"a":1e3}}]},"connections":{},"meta":{"templateCredsSetupCompleted":true},)"
      R"("staticData":null,"tags":[]})");
  ASSERT_TRUE(n8n::add_lock(workflow, lock_on(), {}));
  std::vector<std::string> keys;
  for (const auto& each : workflow.root()) keys.emplace_back(each.key());
  EXPECT_EQ(keys, (std::vector<std::string>{"zeta", "nodes", "pinData", "connections", "meta",
                                            "staticData", "tags"}));
  EXPECT_EQ(workflow.root().at("zeta"), 1.5);
  EXPECT_EQ(workflow.root().at("pinData").at("T").at(0).at("json").at("a").to_number<double>(),
            1000);
  EXPECT_EQ(workflow.nodes().at(0).as_object().begin()->key(), "notes");
  EXPECT_EQ(workflow.place_of("T").x, 0.5);
}

TEST(AddLock, sets_the_error_workflow_but_never_replaces_another) {
  const auto env = env_of();
  const Filling filling{.env = &env, .env_file = "env.yml"};
  auto wish = lock_on();
  wish.on_error = true;
  auto workflow = workflow_of(plain_flow);
  ASSERT_TRUE(n8n::add_lock(workflow, wish, filling));
  EXPECT_EQ(workflow.root().at("settings").at("errorWorkflow"), "wf-cleanup");
  auto other = workflow_of(plain_flow);
  other.root()["settings"].as_object()["errorWorkflow"] = "mine";
  const auto before = other.text();
  const auto refused = n8n::add_lock(other, wish, filling);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("settings.errorWorkflow is \"mine\" already"),
            std::string::npos);
  EXPECT_EQ(other.text(), before);
}

TEST(AddRateLimit, gives_sound_graphs_in_either_order_with_the_gate_in_front) {
  for (const auto flow : {plain_flow, branched_flow}) {
    auto first = workflow_of(flow);
    ASSERT_TRUE(n8n::add_rate_limit(first, limit(), {}));
    expect_sound(first);
    ASSERT_TRUE(n8n::add_lock(first, lock_on(), {}));
    expect_sound(first);
    auto last = workflow_of(flow);
    ASSERT_TRUE(n8n::add_lock(last, lock_on(), {}));
    ASSERT_TRUE(n8n::add_rate_limit(last, limit(), {}));
    expect_sound(last);
    for (const auto& each : {first, last}) {
      const auto turned_away = each.behind(each.triggers().front(), {"Rate Limit Passed"});
      EXPECT_EQ(turned_away, (std::set<std::string>{each.triggers().front(), "Rate Limit",
                                                    "Rate Limit Allowed?", "Rate Limit Denied"}));
      EXPECT_TRUE(each.behind("Rate Limit Passed").contains("Lock Acquire"));
    }
  }
}

TEST(AddRateLimit, puts_nodes_where_there_is_room) {
  auto workflow = workflow_of(plain_flow);
  ASSERT_TRUE(n8n::add_rate_limit(workflow, limit(), {}));
  EXPECT_EQ(workflow.place_of("Rate Limit").x, 220);
  EXPECT_EQ(workflow.place_of("Rate Limit Allowed?").x, 440);
  EXPECT_EQ(workflow.place_of("Rate Limit Denied").x, 660);
  EXPECT_EQ(workflow.place_of("Rate Limit Denied").y, 160);
  EXPECT_EQ(workflow.place_of("Rate Limit Passed").x, 660);
  EXPECT_EQ(workflow.place_of("Work").x, 880);
}

TEST(AddRateLimit, message_is_an_expression) {
  auto workflow = workflow_of(plain_flow);
  auto wish = limit();
  wish.on_denied = n8n::OnDenied::stop;
  ASSERT_TRUE(n8n::add_rate_limit(workflow, wish, {}));
  const auto* stop = workflow.find("Rate Limit Stop");
  ASSERT_NE(stop, nullptr);
  EXPECT_TRUE(stop->at("parameters").at("errorMessage").as_string().starts_with("=Rate limit "));
}

}  // namespace
}  // namespace holdfast::test
