// SPDX-License-Identifier: Apache-2.0
#include "n8n/workflow.hpp"

#include "n8n/add_lock.hpp"
#include "n8n/json_text.hpp"
#include "n8n/limits.hpp"
#include "n8n/workflow_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::test {
namespace {

namespace json = boost::json;
using n8n::Workflow;

TEST(Workflow, that_n8n_could_not_run_is_refused_with_the_place_or_the_rule) {
  const auto with_connections = [](const std::string& connections) {
    return R"({"nodes":[{"name":"A","type":"t"}],"connections":)" + connections + "}";
  };
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "flow.json:1:1: is not JSON"},
      {"{\n  \"nodes\": [,]\n}", "flow.json:2:13: is not JSON"},
      {"{} {}", "flow.json:1:4: is not JSON"},
      {"{\"a\": \"\xff\"}", "flow.json:1:8: is not JSON"},
      {"5", "must be a JSON object"},
      {"[]", "is a list; give a file with one workflow"},
      {"{}", "nodes must be a list"},
      {R"({"nodes":{}})", "nodes must be a list"},
      {R"({"nodes":[]})", "connections must be an object"},
      {R"({"nodes":[],"connections":[]})", "connections must be an object"},
      {R"({"nodes":[5],"connections":{}})", "nodes[0] must be an object"},
      {R"({"nodes":[{"type":"t"}],"connections":{}})", "nodes[0].name must be a text"},
      {R"({"nodes":[{"name":"A","type":5}],"connections":{}})", "nodes[0].type must be a text"},
      {R"({"nodes":[{"name":"A","type":"t"},{"name":"A","type":"t"}],"connections":{}})",
       "two nodes have the name \"A\""},
      {R"({"nodes":[{"name":"A","type":"t","position":[1]}],"connections":{}})",
       "the position of \"A\" must be two numbers"},
      {with_connections(R"({"B":{"main":[]}})"), "there is no node \"B\" to lead from"},
      {with_connections(R"({"A":{"main":[[{"node":"B","type":"main","index":0}]]}})"),
       "\"A\" leads to \"B\", and there is no such node"},
      {with_connections(R"({"A":5})"), "those of \"A\" must have the form"},
      {with_connections(R"({"A":{"main":5}})"), "those of \"A\" must have the form"},
      {with_connections(R"({"A":{"main":[5]}})"), "those of \"A\" must have the form"},
      {with_connections(R"({"A":{"main":[[5]]}})"), "those of \"A\" must have the form"},
      {with_connections(R"({"A":{"main":[[{}]]}})"), "those of \"A\" must have the form"},
      {R"({"nodes":[],"connections":{},"settings":5})", "settings must be an object"},
  };
  for (const auto& [text, says] : cases) {
    SCOPED_TRACE(text);
    const auto refused = Workflow::parse(text, "flow.json");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::bad_input);
    EXPECT_NE(refused.error().message.find(says), std::string::npos) << refused.error().message;
  }
}

TEST(Workflow, that_is_too_much_is_refused_with_the_name_of_the_limit) {
  std::string deep(200, '[');
  const auto too_deep = Workflow::parse(deep, "flow.json");
  ASSERT_FALSE(too_deep);
  EXPECT_EQ(too_deep.error().code, Errc::limit_reached);
  EXPECT_NE(too_deep.error().message.find("max_workflow_depth"), std::string::npos);
  const auto too_long = Workflow::parse(std::string(n8n::max_workflow_bytes + 1, ' '), "flow.json");
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().code, Errc::limit_reached);
  std::string many = R"({"connections":{},"nodes":[)";
  for (std::size_t i = 0; i <= n8n::max_workflow_nodes; ++i) many += i == 0 ? "{}" : ",{}";
  const auto too_many = Workflow::parse(many + "]}", "flow.json");
  ASSERT_FALSE(too_many);
  EXPECT_NE(too_many.error().message.find("max_workflow_nodes"), std::string::npos);
}

TEST(Workflow, is_written_as_it_was_read) {
  const std::string text = R"({
  "b": 2.2,
  "a": [
    1,
    -3,
    18446744073709551615,
    0.1,
    1e+300,
    true,
    null,
    "é\"\\\n",
    {},
    []
  ],
  "nodes": [],
  "connections": {}
}
)";
  EXPECT_EQ(workflow_of(text).text(), text);
}

std::vector<std::string> triggers(const std::string& nodes, const std::string& connections = "{}") {
  return workflow_of(R"({"nodes":[)" + nodes + R"(],"connections":)" + connections + "}")
      .triggers();
}

TEST(Workflow, knows_what_starts_it) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(triggers(R"({"name":"A","type":"n8n-nodes-base.webhook"})"), Names{"A"});
  EXPECT_EQ(triggers(R"({"name":"A","type":"n8n-nodes-base.scheduleTrigger"})"), Names{"A"});
  EXPECT_EQ(triggers(R"({"name":"A","type":"@n8n/n8n-nodes-langchain.chatTrigger"})"), Names{"A"});
  EXPECT_EQ(triggers(R"({"name":"A","type":"n8n-nodes-base.set"})"), Names{});
  EXPECT_EQ(triggers(R"({"name":"A","type":"n8n-nodes-base.stickyNote"})"), Names{});
  EXPECT_EQ(triggers(R"({"name":"A","type":"n8n-nodes-base.webhook","disabled":true})"), Names{});
  const std::string agent =
      R"({"name":"A","type":"@n8n/n8n-nodes-langchain.agent"},{"name":"M","type":"@n8n/n8n-nodes-langchain.lmChatOpenAi"},)"
      R"({"name":"X","type":"community.modelTrigger"},{"name":"T","type":"n8n-nodes-base.cron"})";
  EXPECT_EQ(
      triggers(agent,
               R"({"M":{"ai_languageModel":[[{"node":"A","type":"ai_languageModel","index":0}]]},)"
               R"("X":{"ai_tool":[[{"node":"A","type":"ai_tool","index":0}]]},)"
               R"("T":{"main":[[{"node":"A","type":"main","index":0}]]}})"),
      Names{"T"});
  // Somebody else's node, which starts something and is not started.
  const std::string foreign =
      R"({"name":"F","type":"n8n-nodes-acme.listen"},{"name":"S","type":"n8n-nodes-acme.send"})";
  EXPECT_EQ(triggers(foreign, R"({"F":{"main":[[{"node":"S","type":"main","index":0}]]}})"),
            Names{"F"});
  EXPECT_EQ(triggers(foreign), Names{});
}

TEST(AddLock, refuses_what_it_cannot_guard_and_changes_nothing) {
  const auto start = std::string(R"({"name":"T","type":"n8n-nodes-base.cron"})");
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "the workflow has no trigger"},
      {R"({"name":"N","type":"n8n-nodes-base.stickyNote"})", "the workflow has no trigger"},
      {R"({"name":"N","type":"n8n-nodes-base.set"})", "the workflow has no trigger"},
      {start + R"(,{"name":"W","type":"n8n-nodes-base.webhook"})",
       "the workflow has 2 triggers, \"T\", \"W\""},
      {start + R"(,{"name":"Lock Acquire","type":"x.y"})", "it is under a lock"},
      {start + R"(,{"name":"Lock Release","type":"x.y"})",
       "a node \"Lock Release\" already; rename"},
      {start + R"(,{"name":"All Branches Done","type":"x.y"})", "rename it"},
  };
  for (const auto& [nodes, says] : cases) {
    SCOPED_TRACE(nodes);
    auto workflow = workflow_of(R"({"nodes":[)" + nodes + R"(],"connections":{}})");
    const auto before = workflow.text();
    const auto refused = n8n::add_lock(workflow, {.scope = *n8n::normalise_scope("x")}, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::bad_input);
    EXPECT_NE(refused.error().message.find(says), std::string::npos) << refused.error().message;
    EXPECT_EQ(workflow.text(), before);
  }
}

}  // namespace
}  // namespace holdfast::test
