// SPDX-License-Identifier: Apache-2.0
//
// Limits that n8n's nodes and RedisX count too: what either of us lets through, the other has seen.
#include "backends/redis/options.hpp"
#include "backends/redis/redis_store.hpp"
#include "interop_fixture.hpp"
#include "runtime/spawn.hpp"

#include <fmt/format.h>

namespace holdfast::test {
namespace {

using model::RateCommand;
using Verb = RateCommand::Verb;

constexpr std::chrono::seconds window = std::chrono::hours(1);
constexpr std::uint32_t limit = 5;

class SharedRate : public testing::Test {
 protected:
  explicit SharedRate(RateLayout layout)
      : rule{.algorithm = RateAlgorithm::fixed_window,
             .limit = limit,
             .window = window,
             .layout = layout} {
    raw.call({"FLUSHALL"});
    backends::redis::Options options;
    options.endpoint.port = shared_server().port();
    store = backends::redis::open_redis_store(std::move(options), runtime).value();
    // An hour that ends while the test runs would begin another counter.
    const auto left = [this] { return window.count() - server_seconds() % window.count(); };
    eventually([&] { return left() > 60; }, 2min);
  }

  long long server_seconds() {
    return std::stoll(std::string(net::resp::text_of(*raw.call({"TIME"})->element[0])));
  }
  RateOutcome ask(Verb verb, std::uint32_t cost = 1) {
    store::Request request{.name = model::limit_name("api:v1", rule).value(),
                           .command = RateCommand{.verb = verb, .rule = rule, .cost = cost},
                           .deadline = runtime->now() + 10s};
    auto reply = runtime::run_blocking(store->apply(std::move(request)));
    EXPECT_TRUE(is_ok(reply));
    return reply ? std::get<RateOutcome>(reply->outcome) : RateOutcome{};
  }

  RawRedis raw{shared_server()};
  std::shared_ptr<runtime::Runtime> runtime = runtime::shared_runtime();
  std::shared_ptr<store::Store> store;
  const RateRule rule;
};

// The node of rate_limit_check: INCR and then EXPIRE, and a new connection each time.
class N8nRate : public SharedRate {
 protected:
  N8nRate() : SharedRate(RateLayout::n8n) {}

  std::string key() {
    const auto now_ms = server_seconds() * 1000;
    return fmt::format("n8n-ratelimit-api:v1-{}", now_ms / (window.count() * 1000));
  }
  // Whether it was allowed.
  bool their_hit() {
    RawRedis node(shared_server());
    const auto count = node.integer({"INCR", key()});
    node.call({"EXPIRE", key(), std::to_string(window.count())});
    return count <= limit;
  }
};

TEST_F(N8nRate, their_hits_and_ours_count_together) {
  EXPECT_TRUE(their_hit());
  EXPECT_TRUE(their_hit());
  EXPECT_EQ(ask(Verb::peek).count, 2U);
  const auto ours = ask(Verb::check, 2);
  EXPECT_TRUE(ours.allowed);
  EXPECT_EQ(ours.count, 4U);
  EXPECT_EQ(ours.remaining, 1U);
  EXPECT_TRUE(their_hit());
  EXPECT_FALSE(their_hit());
  const auto denied = ask(Verb::check);
  EXPECT_FALSE(denied.allowed);
  EXPECT_EQ(denied.count, 7U) << "what is denied counts, theirs and ours";
  EXPECT_LE(denied.retry_after, window);
  EXPECT_EQ(raw.text({"GET", key()}), "7");
}

TEST_F(N8nRate, when_we_used_it_up_they_are_denied) {
  for (std::uint32_t i = 0; i < limit; ++i) EXPECT_TRUE(ask(Verb::check).allowed);
  EXPECT_FALSE(their_hit());
  ask(Verb::reset);
  EXPECT_TRUE(their_hit());
  EXPECT_EQ(ask(Verb::peek).count, 1U);
}

TEST_F(N8nRate, a_counter_whose_ttl_never_came_gets_one) {
  raw.call({"INCR", key()});
  EXPECT_EQ(ask(Verb::peek).count, 1U);
  EXPECT_EQ(raw.integer({"TTL", key()}), -1) << "whoever only looks changes nothing";
  EXPECT_EQ(ask(Verb::check).count, 2U);
  EXPECT_GT(raw.integer({"TTL", key()}), window.count() - 20);
}

// One script: INCR of the window's key, and EXPIRE if that made it 1.
class RedisxRate : public SharedRate {
 protected:
  RedisxRate() : SharedRate(RateLayout::redisx) {}

  std::string key() {
    return fmt::format("{{rl:fixed-window:api:v1}}:{}",
                       server_seconds() / window.count() * window.count());
  }
  bool their_hit() {
    constexpr auto script = R"lua(
local window = math.floor(ARGV[1] / ARGV[2]) * ARGV[2]
local key = '{' .. KEYS[1] .. '}:' .. window
local count = redis.call('INCR', key)
if count == 1 then redis.call('EXPIRE', key, ARGV[2]) end
return count
)lua";
    RawRedis theirs(shared_server());
    return theirs.integer({"EVAL", script, "1", "rl:fixed-window:api:v1",
                           std::to_string(server_seconds()), std::to_string(window.count())}) <=
           limit;
  }
};

TEST_F(RedisxRate, their_hits_and_ours_count_together) {
  EXPECT_TRUE(their_hit());
  EXPECT_EQ(ask(Verb::peek).count, 1U);
  EXPECT_EQ(ask(Verb::check, 3).count, 4U);
  EXPECT_TRUE(their_hit());
  EXPECT_FALSE(their_hit());
  const auto denied = ask(Verb::check);
  EXPECT_FALSE(denied.allowed);
  EXPECT_EQ(denied.count, 7U);
  EXPECT_EQ(raw.text({"GET", key()}), "7");
}

TEST_F(RedisxRate, only_the_first_hit_sets_the_ttl_whoever_it_is_of) {
  EXPECT_TRUE(ask(Verb::check).allowed);
  EXPECT_GT(raw.integer({"TTL", key()}), window.count() - 20);
  raw.call({"EXPIRE", key(), "1000"});
  EXPECT_TRUE(their_hit());
  EXPECT_TRUE(ask(Verb::check).allowed);
  EXPECT_LE(raw.integer({"TTL", key()}), 1000);
  raw.call({"PERSIST", key()});
  EXPECT_TRUE(ask(Verb::check).allowed);
  EXPECT_GT(raw.integer({"TTL", key()}), window.count() - 20);
}

TEST_F(RedisxRate, when_we_used_it_up_they_are_denied) {
  EXPECT_TRUE(ask(Verb::check, limit).allowed);
  EXPECT_FALSE(their_hit());
  ask(Verb::reset);
  EXPECT_EQ(raw.integer({"EXISTS", key()}), 0);
  EXPECT_TRUE(their_hit());
}

}  // namespace
}  // namespace holdfast::test
