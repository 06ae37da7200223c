// SPDX-License-Identifier: Apache-2.0
//
// Runs through the store protocol: who may do what, and what is written down. tests/contract proves
// that they work through it.
#include "server/auth/secret.hpp"
#include "server/auth/token_edit.hpp"
#include "server_fixture.hpp"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace holdfast::server {
namespace {

class StoreRuns : public ServerTest {
 protected:
  HttpAnswer apply(const std::string& verb, const std::string& more = "",
                   std::map<std::string, std::string> headers = {},
                   const std::string& key = "orders:1") {
    headers.emplace("Holdfast-Store-Protocol", "1");
    return call({.method = "POST",
                 .path = "/v1/store/apply",
                 .body = body_of(verb, more, key),
                 .headers = headers});
  }
  // With what `more` says instead of the defaults.
  static std::string body_of(const std::string& verb, const std::string& more,
                             const std::string& key) {
    boost::json::object body{{"name", key},
                             {"verb", "run_" + verb},
                             {"owner", "ann"},
                             {"guard_us", 10'000'000},
                             {"keep_us", 60'000'000}};
    const auto changed = boost::json::parse("{" + more + "}");
    for (const auto& field : changed.as_object()) body[field.key()] = field.value();
    return boost::json::serialize(body);
  }
  static boost::json::value outcome(const HttpAnswer& answer) {
    return answer.json().at("outcome");
  }
};

TEST_F(StoreRuns, a_token_needs_the_verb_and_the_prefix) {
  const test::TemporaryFolder folder;
  options.token_file = (folder.path() / "tokens").string();
  const auto add = [&](const std::string& name, Verb verb, std::vector<std::string> prefixes) {
    const Principal principal{.name = name,
                              .verbs = {verb},
                              .prefixes = std::move(prefixes),
                              .secret_hash = hash_of("hf_" + name)};
    const auto added = add_token(options.token_file, principal);
    ASSERT_TRUE(added) << added.error().message;
  };
  add("reader", Verb::read, {});
  add("locker", Verb::lock, {});
  add("stranger", Verb::lock, {"invoices:"});
  add("admin", Verb::admin, {});
  start();
  const auto as = [&](const std::string& who, const std::string& verb,
                      const std::string& key = "orders:1") {
    const auto answer = apply(verb, R"("answer":{"status":200,"headers":"","body":""})",
                              {{"Authorization", "Bearer hf_" + who}}, key);
    return answer.status == 200 ? "ok" : answer.code();
  };
  for (const auto* verb : {"begin", "renew", "complete", "fail", "abandon"}) {
    EXPECT_EQ(as("reader", verb), "forbidden") << verb;
    EXPECT_EQ(as("stranger", verb), "forbidden") << verb;
    EXPECT_EQ(as("stranger", verb, "invoices:1"), "ok") << verb;
    EXPECT_EQ(as("locker", verb), "ok") << verb;
  }
  EXPECT_EQ(as("reader", "look"), "ok");
  EXPECT_EQ(as("locker", "forget"), "forbidden");
  EXPECT_EQ(as("admin", "forget"), "ok");
  EXPECT_EQ(as("locker", "begin", "holdfast-server:x"), "forbidden") << "the server's own";
}

TEST_F(StoreRuns, what_is_wrong_is_refused_with_the_field_and_changes_nothing) {
  start();
  for (const auto& [more, field] :
       std::map<std::string, std::string>{{R"("guard_us":1)", "guard"},
                                          {R"("keep_us":1)", "ttl"},
                                          {R"("owner":"")", "owner"},
                                          {R"("fingerprint":7)", "fingerprint"},
                                          {R"("takes_over":"yes")", "takes_over"}}) {
    const auto refused = apply("begin", more);
    EXPECT_EQ(refused.status, 400) << refused.body;
    EXPECT_TRUE(refused.text("detail").starts_with(field)) << refused.body;
  }
  for (const auto* more : {"", R"("answer":{"status":99})", R"("answer":{"body":"?"})"}) {
    EXPECT_EQ(apply("complete", more).status, 400) << more;
  }
  EXPECT_EQ(outcome(apply("look")).at("found"), "nothing");
}

TEST_F(StoreRuns, begins_are_metrics_and_what_is_taken_from_others_is_in_the_audit_trail) {
  start();
  EXPECT_EQ(outcome(apply("begin")).at("done"), true);
  apply("abandon");
  const auto taken = outcome(apply("begin", R"("owner":"ben")"));
  EXPECT_EQ(taken.at("found"), "abandoned");
  apply("begin", R"("owner":"eva")");
  apply("forget");
  apply("forget");
  const auto page = get("/v1/audit?limit=2").json();
  const auto& entries = page.at("entries").as_array();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].at("what"), "run_forgotten");
  EXPECT_EQ(entries[0].at("name"), "orders:1");
  EXPECT_EQ(entries[0].at("reason"), "in_progress");
  EXPECT_EQ(entries[1].at("what"), "run_taken_over");
  const auto metrics = get("/metrics").body;
  for (const auto* line :
       {"outcome=\"new\"} 1\n", "outcome=\"takeover\"} 1\n", "outcome=\"in_progress\"} 1\n"}) {
    EXPECT_NE(metrics.find("holdfast_idempotency_requests_total{" + std::string(line)),
              std::string::npos)
        << line;
  }
}

}  // namespace
}  // namespace holdfast::server
