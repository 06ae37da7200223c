// SPDX-License-Identifier: Apache-2.0
//
// The primitives that call a server, against a real one on the same Redis as the others.
#include "n8n/execution.hpp"

#include <chrono>

namespace holdfast::test {
namespace {

namespace json = boost::json;

class ThroughServer : public Execution {
 protected:
  void SetUp() override {
    Execution::SetUp();
    if (IsSkipped()) return;
    ASSERT_TRUE(server_.complains("listening", std::chrono::seconds(60))) << server_.err();
    constexpr std::string_view host = "127.0.0.1:";
    const auto& log = server_.err();
    const auto at = log.find(host, log.find("listening"));
    ASSERT_NE(at, std::string::npos) << log;
    const auto end = log.find_first_not_of("0123456789", at + host.size());
    url_ = "http://" + log.substr(at, end - at);
  }

  json::object call_server(std::string_view key, json::object input) const {
    json::array workflows{n8n::make_primitive(*n8n::find_primitive(key), {.server = url_})};
    auto done = n8n::resolve(std::move(workflows), env_of(), "env.yml");
    return {{"workflow", done->at(0)}, {"items", {std::move(input)}}};
  }

  std::string url_;
  // On a port that is free then, not one that was free before.
  Program server_{{HOLDFAST_BINARY, "serve", "--listen", "127.0.0.1:0", "--store",
                   redis_.url() + "?dialect=counter"}};
};

TEST_F(ThroughServer, callers_see_the_same_as_with_redis_nodes) {
  const auto taken = item_of(perform_one(call_server("lock_acquisition", alice)));
  EXPECT_EQ(taken.at("acquired"), true);
  EXPECT_EQ(taken.at("lock_id"), "alice");
  EXPECT_EQ(taken.at("key"), "n8n-lock-s");
  auto impatient = alice;
  impatient["lock_id"] = "bob";
  impatient["wait_till_lock_released"] = false;
  const auto busy = error_of(perform_one(call_server("lock_acquisition", impatient)));
  EXPECT_TRUE(busy.starts_with("Lock acquisition failed (fail-fast): scope 's' is held (count="))
      << busy;
  const auto classic = error_of(perform_one(acquire(impatient)));
  EXPECT_TRUE(classic.starts_with("Lock acquisition failed (fail-fast): scope 's' is held (count="))
      << classic;
  const auto wrong =
      error_of(perform_one(call_server("lock_release", {{"scope", "s"}, {"lock_id", "bob"}})));
  EXPECT_EQ(wrong, error_of(perform_one(release("s", "bob"))));
  EXPECT_TRUE(wrong.starts_with("LOGIC ERROR: Lock held by Sync (id: w1, execution: 7)")) << wrong;
  EXPECT_EQ(json::serialize(item_of(
                perform_one(call_server("lock_release", {{"scope", "s"}, {"lock_id", "alice"}})))),
            R"({"released":true,"idempotent":false,"scope":"s","lock_id":"alice"})");
}

TEST_F(ThroughServer, a_rate_limit_and_a_cleanup_answer_too) {
  const json::object hit{{"scope", "s"}, {"limit", 1}, {"windowSeconds", 86400}};
  EXPECT_EQ(item_of(perform_one(call_server("rate_limit_check", hit))).at("allowed"), true);
  EXPECT_EQ(item_of(perform_one(call_server("rate_limit_check", hit))).at("allowed"), false);
  auto order = alice;
  order["scope"] = "orders";
  item_of(perform_one(call_server("lock_acquisition", order)));
  const auto cleaned = item_of(
      perform_one(call_server("error_handler_lock_cleanup", {{"execution", {{"id", "7"}}}})));
  EXPECT_EQ(cleaned.at("cleaned"), true);
  EXPECT_EQ(cleaned.at("scopes"), (json::array{"orders"}));
}

}  // namespace
}  // namespace holdfast::test
