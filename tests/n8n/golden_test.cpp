// SPDX-License-Identifier: Apache-2.0
//
// Everything that is generated, compared with golden/*.json. HOLDFAST_WRITE_GOLDEN=1 writes the
// files anew; then look at what changed with git diff.
#include "n8n/add_lock.hpp"
#include "n8n/add_rate_limit.hpp"
#include "n8n/json_text.hpp"
#include "n8n/placeholders.hpp"
#include "n8n/primitives.hpp"
#include "n8n/workflow_text.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace holdfast::test {
namespace {

namespace json = boost::json;
using n8n::Filling;
using n8n::Workflow;

void compare(const std::string& name, const std::string& text) {
  const auto file = "golden/" + name + ".json";
  if (std::getenv("HOLDFAST_WRITE_GOLDEN") != nullptr) {
    std::ofstream(beside_the_tests(file), std::ios::binary) << text;
  }
  EXPECT_EQ(text, read_beside(file)) << file;
}

std::string primitive(std::string_view key, const n8n::Style& style, bool resolved) {
  json::array workflows{n8n::make_primitive(*n8n::find_primitive(key), style)};
  if (!resolved) return n8n::to_text(workflows.at(0));
  const auto done = n8n::resolve(std::move(workflows), env_of(), "env.yml");
  EXPECT_TRUE(done) << done.error().message;
  return n8n::to_text(done->at(0));
}

TEST(Golden, primitives_with_redis_nodes) {
  for (const auto& each : n8n::all_primitives()) {
    compare(std::string(each.key), primitive(each.key, {.has_id = true}, true));
  }
}

TEST(Golden, primitives_as_templates) {
  for (const auto& each : n8n::all_primitives()) {
    compare(fmt::format("{}.template", each.key), primitive(each.key, {}, false));
  }
}

TEST(Golden, primitives_through_a_server) {
  const n8n::Style style{
      .server = "https://locks:3009", .has_server_credential = true, .has_id = true};
  for (const auto& each : n8n::all_primitives()) {
    compare(fmt::format("{}.server", each.key), primitive(each.key, style, true));
  }
}

std::string locked(std::string_view text, const n8n::LockWish& wish, bool resolved = true) {
  auto workflow = workflow_of(text);
  const auto env = env_of();
  const Filling filling{.env = &env, .env_file = "env.yml", .as_template = !resolved};
  const auto done = n8n::add_lock(workflow, wish, filling);
  EXPECT_TRUE(done) << done.error().message;
  return workflow.text();
}

TEST(Golden, workflows_under_a_lock) {
  compare("plain_locked", locked(plain_flow, lock_on("orders")));
  compare("plain_locked.template", locked(plain_flow, lock_on("orders"), false));
  auto impatient = lock_on("={{ 'file-' + $json.id }}");
  impatient.ttl_seconds = 600;
  impatient.max_wait_seconds = 30;
  impatient.fail_fast = true;
  impatient.on_error = true;
  compare("branched_locked", locked(branched_flow, impatient));
  compare("two_outputs_locked", locked(two_outputs_flow, lock_on("=api-v1-{{ $json.userId }}")));
}

TEST(Golden, workflows_with_a_rate_limit) {
  const auto env = env_of();
  const Filling filling{.env = &env, .env_file = "env.yml"};
  n8n::RateLimitWish wish{
      .scope = *n8n::normalise_scope("={{ $workflow.id }}"), .limit = 10, .window_seconds = 60};
  auto plain = workflow_of(plain_flow);
  ASSERT_TRUE(n8n::add_rate_limit(plain, wish, filling));
  compare("plain_limited", plain.text());
  wish.on_denied = n8n::OnDenied::stop;
  auto outputs = workflow_of(two_outputs_flow);
  ASSERT_TRUE(n8n::add_rate_limit(outputs, wish, filling));
  compare("two_outputs_limited", outputs.text());
  auto both = workflow_of(branched_flow);
  ASSERT_TRUE(n8n::add_rate_limit(both, wish, filling));
  ASSERT_TRUE(n8n::add_lock(both, lock_on("orders"), filling));
  compare("branched_limited_and_locked", both.text());
}

}  // namespace
}  // namespace holdfast::test
