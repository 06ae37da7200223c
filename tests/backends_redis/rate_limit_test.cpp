// SPDX-License-Identifier: Apache-2.0
//
// Rate limits on a real server with its own clock: what they leave in it, and who shares them.
#include "backends/redis/options.hpp"
#include "backends/redis/redis_store.hpp"
#include "redis_fixture.hpp"
#include "runtime/spawn.hpp"

#include <atomic>

namespace holdfast::test {
namespace {

using model::RateCommand;
using Verb = RateCommand::Verb;

constexpr RateRule sliding{
    .algorithm = RateAlgorithm::sliding_window, .limit = 3, .window = std::chrono::minutes(1)};
constexpr RateRule fixed{
    .algorithm = RateAlgorithm::fixed_window, .limit = 3, .window = std::chrono::days(31)};
constexpr RateRule bucket{
    .algorithm = RateAlgorithm::token_bucket, .limit = 3, .window = std::chrono::minutes(1)};
constexpr RateRule of_n8n{.algorithm = RateAlgorithm::fixed_window,
                          .limit = 3,
                          .window = std::chrono::days(31),
                          .layout = RateLayout::n8n};
constexpr RateRule of_redisx{.algorithm = RateAlgorithm::fixed_window,
                             .limit = 3,
                             .window = std::chrono::days(31),
                             .layout = RateLayout::redisx};

class RedisRate : public RedisTest {
 protected:
  std::shared_ptr<store::Store> open_store(backends::redis::Options options = {}) {
    options.endpoint.port = server.port();
    return backends::redis::open_redis_store(std::move(options), runtime).value();
  }
  Result<RateOutcome> ask(store::Store& store, const RateCommand& command) {
    store::Request request{.name = model::limit_name("api", command.rule).value(),
                           .command = command,
                           .deadline = runtime->now() + 60s};
    auto reply = runtime::run_blocking(store.apply(std::move(request)));
    if (!reply) return std::unexpected(std::move(reply.error()));
    return std::get<RateOutcome>(reply->outcome);
  }
  std::vector<std::string> keys() {
    std::vector<std::string> all;
    const auto reply = raw.call({"KEYS", "*"});
    for (std::size_t i = 0; i < reply->elements; ++i) {
      const std::string key(net::resp::text_of(*reply->element[i]));
      if (key != "hf:fence") all.push_back(key);
    }
    return all;
  }
  // The only one there is.
  std::string key() {
    const auto all = keys();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? std::string() : all.front();
  }
  long long server_seconds() {
    return std::stoll(std::string(net::resp::text_of(*raw.call({"TIME"})->element[0])));
  }
  // A window that ends while the test runs would begin another key.
  void wait_for_room_in_window(std::chrono::seconds window) {
    const auto has_room = [&] { return server_seconds() % window.count() < window.count() - 30; };
    ASSERT_TRUE(eventually(has_room, 40s));
  }

  std::shared_ptr<runtime::Runtime> runtime = runtime::shared_runtime();
};

TEST_F(RedisRate, a_limit_is_one_key_that_goes_with_its_last_hit) {
  const auto store = open_store();
  const std::pair<RateRule, std::string> all[] = {{sliding, "hf:rate:{api:sliding:60000000us}"},
                                                  {fixed, "hf:rate:{api:fixed:2678400000000us}"},
                                                  {bucket, "hf:rate:{api:bucket:60000000us}"}};
  for (const auto& [rule, expected] : all) {
    const auto outcome = ask(*store, {.rule = rule});
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_TRUE(outcome->allowed);
    EXPECT_EQ(outcome->count, 1U);
    EXPECT_EQ(outcome->remaining, 2U);
    EXPECT_EQ(key(), expected);
    const auto reset_ms = std::chrono::ceil<std::chrono::milliseconds>(outcome->reset_after);
    EXPECT_LE(raw.integer({"PTTL", expected}), reset_ms.count() + 1);
    EXPECT_GE(raw.integer({"PTTL", expected}), reset_ms.count() - 10'000);
    ASSERT_TRUE(ask(*store, {.verb = Verb::reset, .rule = rule}));
    EXPECT_TRUE(keys().empty());
  }
}

TEST_F(RedisRate, nothing_is_left_when_the_hits_have_gone) {
  const auto store = open_store();
  for (auto rule : {sliding, fixed, bucket}) {
    rule.window = 20ms;
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(ask(*store, {.rule = rule}));
  }
  EXPECT_TRUE(eventually([&] { return keys().empty(); }));
}

TEST_F(RedisRate, a_denied_check_and_a_peek_write_nothing) {
  const auto store = open_store();
  for (const auto& rule : {sliding, fixed, bucket}) {
    ASSERT_TRUE(ask(*store, {.rule = rule, .cost = 3}));
    const auto at = key();
    const auto before = raw.text({"GET", at});
    const auto denied = ask(*store, {.rule = rule, .cost = 3});
    ASSERT_TRUE(denied) << denied.error().message;
    EXPECT_FALSE(denied->allowed);
    EXPECT_GT(denied->retry_after, 0us);
    EXPECT_LE(denied->retry_after, rule.window);
    ASSERT_TRUE(ask(*store, {.verb = Verb::peek, .rule = rule}));
    EXPECT_EQ(raw.text({"GET", at}), before);
    raw.call({"DEL", at});
    ASSERT_TRUE(ask(*store, {.verb = Verb::peek, .rule = rule}));
    EXPECT_TRUE(keys().empty());
  }
}

TEST_F(RedisRate, the_keys_of_other_programs_are_theirs) {
  const auto store = open_store();
  wait_for_room_in_window(std::chrono::days(31));
  const auto window = std::chrono::seconds(std::chrono::days(31)).count();
  const auto number = server_seconds() / window;
  const std::pair<RateRule, std::string> all[] = {
      {of_n8n, "n8n-ratelimit-api-" + std::to_string(number)},
      {of_redisx, "{rl:fixed-window:api}:" + std::to_string(number * window)}};
  for (const auto& [rule, expected] : all) {
    for (int i = 1; i <= 4; ++i) {
      const auto outcome = ask(*store, {.rule = rule});
      ASSERT_TRUE(outcome) << outcome.error().message;
      EXPECT_EQ(outcome->allowed, i <= 3) << "the ones that are denied count too";
      EXPECT_EQ(outcome->count, static_cast<unsigned>(i));
    }
    EXPECT_EQ(key(), expected);
    EXPECT_EQ(raw.text({"GET", expected}), "4");
    EXPECT_GT(raw.integer({"TTL", expected}), window - 10);
    EXPECT_LE(raw.integer({"TTL", expected}), window);
    EXPECT_EQ(ask(*store, {.verb = Verb::peek, .rule = rule})->count, 4U);
    ASSERT_TRUE(ask(*store, {.verb = Verb::reset, .rule = rule}));
    EXPECT_TRUE(keys().empty());
  }
}

TEST_F(RedisRate, a_key_that_is_something_else_is_a_mismatch_and_stays) {
  const auto store = open_store();
  wait_for_room_in_window(std::chrono::days(31));
  for (const auto& rule : {sliding, fixed, bucket, of_n8n, of_redisx}) {
    ASSERT_TRUE(ask(*store, {.rule = rule}));
    const auto at = key();
    for (const auto* const text : {"", "mine", "f1 2 3", "-1", "1234567890123456"}) {
      raw.call({"SET", at, text});
      for (const auto verb : {Verb::check, Verb::peek, Verb::reset}) {
        const auto outcome = ask(*store, {.verb = verb, .rule = rule});
        ASSERT_FALSE(outcome) << at << " '" << text << "'";
        EXPECT_EQ(outcome.error().code, Errc::spec_mismatch) << outcome.error().message;
      }
      EXPECT_EQ(raw.text({"GET", at}), text);
    }
    raw.call({"DEL", at});
    raw.call({"HSET", at, "field", "value"});
    const auto outcome = ask(*store, {.rule = rule});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Errc::spec_mismatch) << outcome.error().message;
    EXPECT_EQ(raw.text({"HGET", at, "field"}), "value");
    raw.call({"DEL", at});
  }
}

TEST_F(RedisRate, what_only_begins_like_a_limit_stays_too) {
  const auto store = open_store();
  const auto late = std::string("9000000000000000");
  const std::pair<RateRule, std::string> all[] = {{sliding, "s1 0 " + late + " 1 12345"},
                                                  {fixed, "f1 0 " + late + " 1 many"},
                                                  {bucket, "b1 0 " + late + " 1 many"}};
  for (const auto& [rule, text] : all) {
    ASSERT_TRUE(ask(*store, {.rule = rule}));
    const auto at = key();
    raw.call({"SET", at, text});
    const auto outcome = ask(*store, {.rule = rule});
    ASSERT_FALSE(outcome) << text;
    EXPECT_EQ(outcome.error().code, Errc::spec_mismatch) << outcome.error().message;
    EXPECT_EQ(raw.text({"GET", at}), text);
    raw.call({"DEL", at});
  }
}

TEST_F(RedisRate, a_server_that_forgot_its_scripts_is_told_again) {
  const auto store = open_store();
  for (const auto& rule : {sliding, fixed, bucket, of_n8n}) {
    ASSERT_TRUE(ask(*store, {.rule = rule}));
    raw.call({"SCRIPT", "FLUSH"});
    const auto outcome = ask(*store, {.rule = rule});
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->count, 2U) << "it counts once, however often it is told";
  }
}

TEST_F(RedisRate, stores_of_every_dialect_share_it) {
  const auto native = open_store();
  backends::redis::Options options;
  options.dialect = backends::redis::Dialect::make("counter", "n8n", "").value();
  const auto counter = open_store(options);
  EXPECT_EQ(ask(*native, {.rule = sliding})->count, 1U);
  EXPECT_EQ(ask(*counter, {.rule = sliding})->count, 2U);
}

TEST_F(RedisRate, a_hit_that_no_replica_confirms_is_an_error_and_a_look_needs_none) {
  backends::redis::Options options;
  options.replicas = 1;
  options.replica_timeout = 20ms;
  const auto store = open_store(options);
  const auto outcome = ask(*store, {.rule = sliding, .cost = 3});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Errc::not_replicated) << outcome.error().message;
  EXPECT_EQ(ask(*store, {.verb = Verb::peek, .rule = sliding})->count, 3U);
  const auto denied = ask(*store, {.rule = sliding});
  ASSERT_TRUE(denied) << denied.error().message;
  EXPECT_FALSE(denied->allowed);
}

TEST_F(RedisRate, a_full_server_refuses_and_counts_nothing) {
  const auto store = open_store();
  ASSERT_TRUE(ask(*store, {.rule = sliding}));
  raw.call({"CONFIG", "SET", "maxmemory", "1"});
  for (const auto& rule : {sliding, fixed, bucket, of_redisx}) {
    const auto outcome = ask(*store, {.rule = rule});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Errc::unavailable) << outcome.error().message;
  }
  raw.call({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_EQ(ask(*store, {.verb = Verb::peek, .rule = sliding})->count, 1U);
  EXPECT_EQ(keys().size(), 1U);
}

TEST_F(RedisRate, a_user_of_our_keys_alone_is_told_that_others_are_not_allowed) {
  raw.call({"ACL", "SETUSER", "locks", "on", ">secret", "~hf:*", "resetchannels", "&hf:*", "+@all",
            "-@admin", "-@dangerous", "+info", "+client"});
  backends::redis::Options options;
  options.endpoint.user = "locks";
  options.endpoint.password = "secret";
  const auto store = open_store(options);
  EXPECT_EQ(ask(*store, {.rule = sliding})->count, 1U);
  for (const auto& rule : {of_n8n, of_redisx}) {
    const auto outcome = ask(*store, {.rule = rule});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Errc::unavailable) << outcome.error().message;
    EXPECT_NE(outcome.error().message.find("does not allow"), std::string::npos);
  }
  EXPECT_EQ(keys().size(), 1U);
}

TEST_F(RedisRate, eight_connections_together_get_what_is_allowed_and_no_more) {
  constexpr int connections = 8;
  constexpr int tries = 40;
  for (auto rule : {sliding, fixed, bucket, of_n8n, of_redisx}) {
    // Nothing comes back, and no window ends, while this runs.
    rule.limit = 100;
    rule.window = std::chrono::days(31);
    wait_for_room_in_window(std::chrono::days(31));
    std::atomic<unsigned> allowed = 0;
    std::atomic<unsigned> failed = 0;
    std::vector<std::thread> threads;
    threads.reserve(connections);
    for (int i = 0; i < connections; ++i) {
      threads.emplace_back([&, store = open_store()] {
        for (int tried = 0; tried < tries; ++tried) {
          const auto outcome = ask(*store, {.rule = rule});
          if (!outcome) ++failed;
          if (outcome && outcome->allowed) ++allowed;
        }
      });
    }
    for (auto& each : threads) each.join();
    EXPECT_EQ(failed, 0U);
    EXPECT_EQ(allowed, rule.limit) << to_string(rule.algorithm) << " " << to_string(rule.layout);
    raw.call({"FLUSHALL"});
  }
}

}  // namespace
}  // namespace holdfast::test
