// SPDX-License-Identifier: Apache-2.0
#include "n8n/doctor.hpp"

#include "n8n/add_lock.hpp"
#include "n8n/add_rate_limit.hpp"
#include "n8n/workflow_text.hpp"

#include <boost/json/serialize.hpp>

namespace holdfast::test {
namespace {

using n8n::Finding;
using n8n::Workflow;

Workflow locked(std::string_view flow, std::string_view scope) {
  auto workflow = workflow_of(flow);
  const auto done = n8n::add_lock(workflow, {.scope = *n8n::normalise_scope(scope)}, {});
  EXPECT_TRUE(done) << done.error().message;
  return workflow;
}

std::vector<n8n::LockCheck> examine(const Workflow& workflow) {
  const auto env = env_of();
  return n8n::examine_locks(workflow, "flow.json", &env);
}

TEST(Doctor, finds_nothing_wrong_with_what_add_lock_makes) {
  for (const auto flow : {plain_flow, branched_flow, two_outputs_flow}) {
    auto workflow = locked(flow, "orders");
    for (int gates = 0; gates < 2; ++gates) {
      const auto checks = examine(workflow);
      ASSERT_EQ(checks.size(), 1U) << checks.back().detail;
      EXPECT_EQ(checks.front().finding, Finding::fine) << checks.front().detail;
      EXPECT_EQ(n8n::verdict(checks), "ok");
      ASSERT_TRUE(n8n::add_rate_limit(
                      workflow,
                      {.scope = *n8n::normalise_scope("api"), .limit = 1, .window_seconds = 1},
                      {}) ||
                  gates == 1);
    }
  }
  EXPECT_TRUE(examine(workflow_of(plain_flow)).empty());
}

TEST(Doctor, finds_a_scope_that_is_not_registered) {
  const auto checks = examine(locked(plain_flow, "stock"));
  ASSERT_EQ(checks.size(), 1U);
  EXPECT_EQ(n8n::verdict(checks), "lock-scopes-unregistered");
  EXPECT_EQ(boost::json::serialize(n8n::to_json(checks)),
            R"({"verdict":"lock-scopes-unregistered","checks":[{"state":"fail",)"
            R"("label":"flow.json: Lock Acquire","detail":"scope \"stock\" is not in lockScopes: )"
            R"(after a failure nobody gives it back before its ttl ends"}]})");
}

TEST(Doctor, notes_a_scope_that_depends_on_the_data) {
  for (const auto* scope : {"={{ $json.id }}", "=a-{{ $json.id }}"}) {
    const auto checks = examine(locked(plain_flow, scope));
    ASSERT_EQ(checks.size(), 1U);
    EXPECT_EQ(checks.front().finding, Finding::note);
    EXPECT_EQ(n8n::verdict(checks), "ok");
  }
}

TEST(Doctor, compares_nothing_without_an_environment) {
  const auto checks = n8n::examine_locks(locked(plain_flow, "stock"), "flow.json", nullptr);
  ASSERT_EQ(checks.size(), 1U);
  EXPECT_EQ(checks.front().finding, Finding::note);
}

TEST(Doctor, finds_a_lock_that_nobody_gives_back) {
  auto workflow = locked(plain_flow, "orders");
  workflow.wires().output("All Branches Done", 0).clear();
  const auto checks = examine(workflow);
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks.back().detail,
            "no Lock Release is behind it: the lock stays until its ttl ends");
  EXPECT_EQ(n8n::verdict(checks), "locks-unsafe");
}

TEST(Doctor, finds_a_second_trigger_that_bypasses_the_lock) {
  auto workflow = locked(plain_flow, "orders");
  workflow.add({boost::json::object{{"name", "Door"}, {"type", "n8n-nodes-base.webhook"}}});
  EXPECT_EQ(n8n::verdict(examine(workflow)), "ok") << "it leads nowhere";
  workflow.wires().join("Door", 0, "Work");
  const auto checks = examine(workflow);
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks.back().label, "flow.json: Door");
  EXPECT_EQ(
      checks.back().detail,
      R"(reaches "All Branches Done", "Branch Ends", "Lock Release", "Work" without the lock)");
  EXPECT_EQ(n8n::verdict(checks), "locks-unsafe");
}

TEST(Doctor, knows_a_lock_by_the_workflow_that_it_calls) {
  auto text = locked(plain_flow, "stock").text();
  for (std::size_t at = 0; (at = text.find("Lock Acquire", at)) != std::string::npos;) {
    text.replace(at, 12, "Take Turns!!");
  }
  EXPECT_EQ(n8n::verdict(examine(workflow_of(text))), "lock-scopes-unregistered");
}

}  // namespace
}  // namespace holdfast::test
