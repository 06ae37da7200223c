// SPDX-License-Identifier: Apache-2.0
//
// holdfast n8n acquire, release, rate-limit and cleanup, by the program itself.
#include "cli/holdfast_program.hpp"
#include "support/redis_server.hpp"

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>

#include <csignal>
#include <thread>

namespace holdfast::test {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using testing::HasSubstr;

class N8nPrimitives : public Cli {
 protected:
  Finished n8n(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "n8n");
    return holdfast(std::move(arguments));
  }
};

TEST_F(N8nPrimitives, take_a_lock_refuse_the_next_one_and_give_it_back) {
  const auto taken = n8n({"acquire", "orders", "--lock-id", "mine", "--execution-id", "77",
                          "--workflow-name", "Nightly", "--json"});
  ASSERT_EQ(taken.code, 0) << taken.err;
  const auto lock = json::parse(taken.out);
  EXPECT_EQ(lock.at("acquired"), true);
  EXPECT_EQ(lock.at("lock_id"), "mine");
  EXPECT_EQ(lock.at("key"), "n8n-lock-orders");
  const auto busy = n8n({"acquire", "orders", "--fail-fast"});
  EXPECT_EQ(busy.code, 75);
  EXPECT_THAT(busy.err, HasSubstr("Lock acquisition failed (fail-fast): scope 'orders' is held"));
  const auto late = n8n({"acquire", "orders", "--max-wait-seconds", "1"});
  EXPECT_NE(late.code, 0);
  EXPECT_THAT(late.err, HasSubstr("timed out after 1s waiting for scope 'orders'"));
  const auto wrong = n8n({"release", "orders", "theirs"});
  EXPECT_NE(wrong.code, 0);
  EXPECT_THAT(wrong.err, HasSubstr("LOGIC ERROR: Lock held by Nightly"));
  EXPECT_EQ(n8n({"release", "orders", "mine"}).out, "'orders' is released\n");
  EXPECT_EQ(n8n({"release", "orders", "mine"}).out, "'orders' was not held\n");
}

TEST_F(N8nPrimitives, print_the_lock_id_that_their_release_needs) {
  const auto taken = n8n({"acquire", "orders"});
  ASSERT_EQ(taken.code, 0) << taken.err;
  const auto id = taken.out.substr(0, taken.out.find('\n'));
  EXPECT_EQ(id.size(), 36U);
  EXPECT_EQ(n8n({"release", "orders", id}).code, 0);
}

TEST_F(N8nPrimitives, count_what_is_denied_too) {
  EXPECT_EQ(n8n({"rate-limit", "api", "--limit", "1", "--window-seconds", "86400"}).code, 0);
  const auto denied =
      n8n({"rate-limit", "api", "--limit", "1", "--window-seconds", "86400", "--json"});
  EXPECT_EQ(denied.code, 75);
  EXPECT_EQ(json::parse(denied.out).at("count"), 2);
  EXPECT_EQ(json::parse(denied.out).at("allowed"), false);
}

TEST_F(N8nPrimitives, clean_up_after_an_execution) {
  ASSERT_EQ(n8n({"acquire", "a", "--execution-id", "77"}).code, 0);
  ASSERT_EQ(n8n({"acquire", "b", "--execution-id", "78"}).code, 0);
  const auto cleaned = n8n({"cleanup", "77", "--lock-scope", "a", "--json"});
  EXPECT_EQ(cleaned.code, 0) << cleaned.err;
  EXPECT_EQ(cleaned.out, R"({"cleaned":true,"cleaned_count":1,"scopes":["a"],)"
                         R"("registered":["a"],"found":[]})"
                         "\n");
  EXPECT_THAT(n8n({"cleanup", "77"}).err, HasSubstr("no locks owned by failed execution"));
  EXPECT_EQ(n8n({"acquire", "b", "--fail-fast"}).code, 75);
}

TEST_F(N8nPrimitives, refuse_bad_input_and_write_nothing) {
  const std::vector<std::vector<std::string>> bad{
      {"acquire", "x:meta"},
      {"acquire", ""},
      {"acquire", "a", "--ttl-seconds", "0"},
      {"acquire", "a", "--ttl-seconds", "1.5"},
      {"acquire", "a", "--max-wait-seconds", "-1"},
      {"acquire", "a", "--lock-id", "a\nb"},
      {"release", "x:meta", "a"},
      {"release", "a", ""},
      {"release", "a"},
      {"rate-limit", "a", "--limit", "0"},
      {"rate-limit", "a", "--window-seconds", "0"},
      {"rate-limit", ""},
      {"cleanup", ""},
      {"cleanup", "unknown"},
      {"cleanup", "77", "--lock-scope", "x:meta"},
      {"aquire", "a"},
  };
  for (const auto& words : bad) {
    const auto refused = n8n(words);
    EXPECT_EQ(refused.code, 64) << words.front() << ": " << refused.err;
    EXPECT_THAT(refused.err, testing::Not(testing::IsEmpty()));
  }
  EXPECT_THAT(holdfast({"list", "--json"}).out, HasSubstr("\"total\":0"));
}

TEST_F(N8nPrimitives, use_their_keys_on_redis_whatever_the_url_says) {
  const RedisServer server;
  RawRedis raw(server);
  const auto store = server.url() + "?profile=redisx";
  ASSERT_EQ(n8n({"acquire", "orders", "--lock-id", "mine", "--store", store}).code, 0);
  EXPECT_EQ(raw.text({"GET", "n8n-lock-orders"}), "1");
  EXPECT_EQ(n8n({"release", "orders", "mine", "--store", store}).code, 0);
  EXPECT_EQ(raw.integer({"EXISTS", "n8n-lock-orders", "n8n-lock-orders:meta"}), 0);
}

TEST_F(N8nPrimitives, leave_the_queue_when_they_are_interrupted) {
  ASSERT_EQ(n8n({"acquire", "orders", "--lock-id", "mine"}).code, 0);
  Program waiting(words({"n8n", "acquire", "orders"}), with({}));
  ASSERT_TRUE(is_waited_for("n8n-lock-orders"));
  waiting.signal(SIGINT);
  EXPECT_EQ(waiting.wait(), 1000 + SIGINT);
  ASSERT_EQ(n8n({"release", "orders", "mine"}).code, 0);
  EXPECT_EQ(n8n({"acquire", "orders", "--fail-fast"}).code, 0);
}

}  // namespace
}  // namespace holdfast::test
