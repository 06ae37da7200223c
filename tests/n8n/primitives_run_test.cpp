// SPDX-License-Identifier: Apache-2.0
#include "n8n/execution.hpp"

#include <algorithm>

namespace holdfast::test {
namespace {

namespace json = boost::json;

json::object with(json::object input, std::string_view key, json::value value) {
  input[key] = std::move(value);
  return input;
}

TEST_F(Execution, of_acquire_and_release_sends_what_the_nodes_of_n8n_send) {
  const auto results = perform({acquire(alice),
                                {{"workflow", primitive("lock_release")},
                                 {"items", {{{"scope", "s"}, {"lock_id", "alice"}}}},
                                 {"after", {0}}}});
  auto taken = item_of(results[0]);
  const std::string locked_at(taken.at("locked_at").as_string());
  EXPECT_EQ(locked_at.size(), std::string("2026-01-01T00:00:00.000Z").size());
  EXPECT_EQ(json::serialize(taken),
            R"({"acquired":true,"count":1,"scope":"s","lock_id":"alice","key":"n8n-lock-s",)"
            R"("meta_key":"n8n-lock-s:meta","workflow_id":"w1","workflow_name":"Sync",)"
            R"("execution_id":"7","locked_at":")" +
                locked_at + "\"}");
  EXPECT_EQ(commands_of(results[0]),
            "INCR n8n-lock-s; EXPIRE n8n-lock-s 60; SET n8n-lock-s:meta "
            R"({"lock_id":"alice","workflow_id":"w1","workflow_name":"Sync","execution_id":"7",)"
            R"("locked_at":")" +
                locked_at + R"("}; EXPIRE n8n-lock-s:meta 60)");
  EXPECT_EQ(json::serialize(item_of(results[1])),
            R"({"released":true,"idempotent":false,"scope":"s","lock_id":"alice"})");
  EXPECT_EQ(commands_of(results[1]), "GET n8n-lock-s:meta; DEL n8n-lock-s:meta; DEL n8n-lock-s");
  EXPECT_EQ(keys(), 0);
}

TEST_F(Execution, of_a_second_release_is_harmless) {
  EXPECT_EQ(json::serialize(item_of(perform_one(release("s", "alice")))),
            R"({"released":true,"idempotent":true,"scope":"s","lock_id":"alice"})");
}

TEST_F(Execution, of_a_release_by_somebody_else_is_an_error_that_names_the_holder) {
  const auto taken = item_of(perform_one(acquire(alice)));
  const auto refused = perform_one(release("s", "bob"));
  EXPECT_EQ(error_of(refused), "LOGIC ERROR: Lock held by Sync (id: w1, execution: 7) since " +
                                   std::string(taken.at("locked_at").as_string()) +
                                   ", not by lock_id=bob");
  EXPECT_EQ(raw_.text({"GET", "n8n-lock-s"}), "1");
  // A number is not the text of that number.
  raw_.call({"SET", "n8n-lock-s:meta", R"({"lock_id":"5"})"});
  EXPECT_NE(error_of(perform_one(release("s", 5))), "");
}

TEST_F(Execution, of_a_release_knows_the_older_form_of_meta) {
  raw_.call({"SET", "n8n-lock-s", "1"});
  raw_.call({"SET", "n8n-lock-s:meta", "tok"});
  EXPECT_EQ(error_of(perform_one(release("s", "other"))),
            "LOGIC ERROR: Lock held by unknown (legacy meta) (id: unknown, execution: unknown) "
            "since unknown, not by lock_id=other");
  EXPECT_EQ(item_of(perform_one(release("s", "tok"))).at("idempotent"), false);
  EXPECT_EQ(keys(), 0);
}

TEST_F(Execution, of_an_acquire_that_does_not_wait_fails_at_once) {
  raw_.call({"SET", "n8n-lock-s", "4"});
  const auto refused = perform_one(acquire(with(alice, "wait_till_lock_released", false)));
  EXPECT_EQ(error_of(refused),
            "Lock acquisition failed (fail-fast): scope 's' is held (count=5). Caller passed "
            "wait_till_lock_released=false.");
  EXPECT_EQ(commands_of(refused), "INCR n8n-lock-s; EXPIRE n8n-lock-s 60");
  EXPECT_EQ(raw_.integer({"EXISTS", "n8n-lock-s:meta"}), 0) << "only the holder writes it";
}

TEST_F(Execution, of_an_acquire_ends_when_its_time_is_over) {
  raw_.call({"SET", "n8n-lock-s", "1"});
  const auto refused = perform_one(acquire(with(alice, "max_wait_seconds", 1)));
  EXPECT_EQ(error_of(refused), "Lock acquisition timed out after 1s waiting for scope 's'.");
  EXPECT_TRUE(commands_of(refused).ends_with("; GET n8n-lock-s")) << "it looks, and never counts";
}

TEST_F(Execution, of_waiting_acquires_gives_the_lock_to_one_after_the_other) {
  auto bob = with(with(alice, "lock_id", "bob"), "execution_id", "8");
  const auto results =
      perform({acquire(alice),
               {{"workflow", primitive("lock_acquisition")}, {"items", {bob}}, {"after", {0}}},
               {{"workflow", primitive("lock_release")},
                {"items", {{{"scope", "s"}, {"lock_id", "alice"}}}},
                {"after", {0}},
                {"delay_ms", 300}}});
  EXPECT_EQ(item_of(results[1]).at("lock_id"), "bob");
  EXPECT_GT(item_of(results[1]).at("locked_at").as_string(),
            item_of(results[0]).at("locked_at").as_string());
  EXPECT_NE(raw_.text({"GET", "n8n-lock-s:meta"}).find("\"bob\""), std::string::npos);
  EXPECT_EQ(raw_.text({"GET", "n8n-lock-s"}), "1");
}

TEST_F(Execution, of_an_acquire_without_a_lock_id_draws_a_fresh_one) {
  for (const bool has_crypto : {true, false}) {
    has_crypto_ = has_crypto;
    const auto results = perform({acquire({{"scope", "a"}, {"execution_id", "7"}}),
                                  acquire({{"scope", "b"}, {"execution_id", "7"}})});
    const auto one = item_of(results[0]);
    EXPECT_NE(one.at("lock_id"), item_of(results[1]).at("lock_id"));
    EXPECT_EQ(one.at("workflow_name"), "unknown");
    EXPECT_EQ(raw_.integer({"TTL", "n8n-lock-a"}), 60) << "when nothing is said";
    raw_.call({"FLUSHALL"});
  }
}

TEST_F(Execution, of_bad_input_sends_nothing_to_redis) {
  std::vector<json::object> runs;
  for (const json::value& ttl : json::array{0, -5, 1.5, 1e12}) {
    runs.push_back(acquire(with(alice, "ttl_seconds", ttl)));
  }
  runs.push_back(acquire(with(alice, "max_wait_seconds", -1)));
  runs.push_back(acquire(with(alice, "scope", "x:meta")));
  runs.push_back(release("x:meta", "alice"));
  for (const json::value& number : json::array{0, -1, 1.5}) {
    runs.push_back(call("rate_limit_check", {{"limit", number}}));
    runs.push_back(call("rate_limit_check", {{"windowSeconds", number}}));
  }
  for (const auto& result : perform(runs)) {
    EXPECT_NE(error_of(result).find("must"), std::string::npos) << json::serialize(result);
    EXPECT_EQ(commands_of(result), "");
    // Some versions of n8n show only what stands behind the last colon.
    EXPECT_EQ(error_of(result).find(':'), std::string::npos);
  }
  EXPECT_EQ(keys(), 0);
}

// A window in which no test ends.
json::object hit(std::string_view scope) {
  return {{"scope", scope}, {"limit", 2}, {"windowSeconds", 315360000}};
}

TEST_F(Execution, of_a_rate_limit_counts_and_denies) {
  std::vector<json::object> runs;
  for (int i = 0; i < 3; ++i) {
    auto run = call("rate_limit_check", hit("s"));
    if (i > 0) run["after"] = {i - 1};
    runs.push_back(std::move(run));
  }
  const auto results = perform(runs);
  EXPECT_EQ(json::serialize(item_of(results[0])),
            R"({"allowed":true,"scope":"s","count":1,"limit":2})");
  EXPECT_EQ(item_of(results[1]).at("allowed"), true);
  EXPECT_EQ(json::serialize(item_of(results[2])),
            R"({"allowed":false,"scope":"s","count":3,"limit":2})");
  const auto bucket = raw_.text({"RANDOMKEY"});
  EXPECT_TRUE(bucket.starts_with("n8n-ratelimit-s-")) << bucket;
  EXPECT_GT(raw_.integer({"TTL", bucket}), 0);
}

json::object cleanup(std::string_view execution, const json::value& workflow) {
  return {{"workflow", workflow}, {"items", {{{"execution", {{"id", execution}}}}}}};
}

TEST_F(Execution, of_a_cleanup_removes_what_the_failed_execution_held_and_nothing_else) {
  for (const std::string scope : {"a", "b", "c", "d"}) {
    raw_.call({"SET", "n8n-lock-" + scope, "1"});
    const std::string execution = scope == "b" ? "8" : "7";
    raw_.call({"SET", "n8n-lock-" + scope + ":meta", R"({"execution_id":")" + execution + "\"}"});
  }
  raw_.call({"SET", "n8n-lock-e", "1"});
  raw_.call({"SET", "n8n-lock-e:meta", "older form"});
  const auto yaml = "lockScopes: [free, a, b, c, e]\ncredentials: {redis: {id: x, name: y}}\n";
  const auto handler = primitive("error_handler_lock_cleanup", yaml);
  const auto result = perform_one(cleanup("7", handler));
  EXPECT_EQ(json::serialize(item_of(result)),
            R"({"cleaned":true,"cleaned_count":2,"scopes":["a","c"]})");
  EXPECT_TRUE(commands_of(result).ends_with(
      "DEL n8n-lock-a:meta; DEL n8n-lock-c:meta; DEL n8n-lock-a; DEL n8n-lock-c"))
      << commands_of(result);
  EXPECT_EQ(keys(), 6) << "b, d and e are left, each with its meta";
}

TEST_F(Execution, of_a_cleanup_says_why_it_did_nothing) {
  const auto credentials = std::string("credentials: {redis: {id: x, name: y}}\n");
  const auto none = primitive("error_handler_lock_cleanup", credentials);
  EXPECT_EQ(json::serialize(item_of(perform_one(cleanup("7", none)))),
            R"({"cleaned":false,"cleaned_count":0,"scopes":[],"reason":"no lockScopes registered )"
            R"(in env yaml — add to lockScopes list to enable active cleanup"})");
  const auto some = primitive("error_handler_lock_cleanup", credentials + "lockScopes: [a]\n");
  EXPECT_EQ(json::serialize(item_of(perform_one(cleanup("7", some)))),
            R"({"cleaned":false,"cleaned_count":0,"scopes":[],)"
            R"("reason":"no locks owned by failed execution"})");
}

}  // namespace
}  // namespace holdfast::test
