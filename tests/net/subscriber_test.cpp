// SPDX-License-Identifier: Apache-2.0
#include "net/resp/subscriber.hpp"

#include "support/fault_proxy.hpp"
#include "talk.hpp"

#include <fmt/format.h>

#include <mutex>
#include <vector>

namespace holdfast::test {
namespace {

// What a subscriber was told.
struct Heard {
  Subscriber::Events events() {
    return {.message =
                [this](std::string_view channel, const redisReply& payload) {
                  const std::lock_guard lock(mutex);
                  messages.push_back(fmt::format("{}: {}", channel, describe(payload)));
                },
            .subscribed =
                [this](std::uint64_t client_id, const std::vector<Reply>&) {
                  last_id = client_id;
                  ++subscribed;
                },
            .dropped = [this](const Error&) { ++dropped; }};
  }
  static std::string describe(const redisReply& payload) {
    if (payload.type == REDIS_REPLY_NIL) return "nil";
    if (payload.type != REDIS_REPLY_ARRAY) return to_text(payload);
    std::string all;
    for (std::size_t i = 0; i < payload.elements; ++i) all += to_text(*payload.element[i]) + ";";
    return all;
  }
  bool has(const std::string& message) {
    const std::lock_guard lock(mutex);
    return std::ranges::count(messages, message) > 0;
  }

  std::mutex mutex;
  std::vector<std::string> messages;
  std::atomic<std::uint64_t> last_id = 0;
  std::atomic<int> subscribed = 0, dropped = 0;
};

struct SubscriberTest : testing::Test {
  static Result<void> wait(Subscriber& subscriber, std::chrono::milliseconds patience = 60s) {
    return runtime::run_blocking(subscriber.subscribed(runtime::LocalClock::now() + patience));
  }
  RedisServer server;
  std::shared_ptr<runtime::Runtime> runtime = runtime::shared_runtime();
  Heard heard;
};

TEST_F(SubscriberTest, messages_of_its_channels_arrive) {
  Subscriber subscriber(runtime, endpoint_at(server.port()), {"a", "b"}, heard.events());
  ASSERT_TRUE(wait(subscriber));
  EXPECT_TRUE(subscriber.is_subscribed());
  RawRedis raw(server);
  EXPECT_EQ(raw.integer({"PUBLISH", "a", "one"}), 1);
  EXPECT_EQ(raw.integer({"PUBLISH", "b", "two"}), 1);
  EXPECT_EQ(raw.integer({"PUBLISH", "c", "three"}), 0);
  EXPECT_TRUE(eventually([&] { return heard.has("b: two"); }));
  EXPECT_EQ(heard.messages, (std::vector<std::string>{"a: one", "b: two"}));
}

TEST_F(SubscriberTest, keys_that_another_connection_tracks_are_announced_here) {
  Subscriber subscriber(runtime, endpoint_at(server.port()), {"__redis__:invalidate"},
                        heard.events());
  ASSERT_TRUE(wait(subscriber));
  RawRedis reader(server), writer(server);
  const auto id = std::to_string(heard.last_id);
  ASSERT_EQ(reader.text({"CLIENT", "TRACKING", "ON", "REDIRECT", id}), "OK");
  reader.call({"GET", "watched"});
  writer.call({"SET", "watched", "1"});
  EXPECT_TRUE(eventually([&] { return heard.has("__redis__:invalidate: watched;"); }));
  writer.call({"FLUSHALL"});
  EXPECT_TRUE(eventually([&] { return heard.has("__redis__:invalidate: nil"); }));
}

TEST_F(SubscriberTest, after_its_connection_was_killed_it_subscribes_again) {
  Subscriber subscriber(runtime, endpoint_at(server.port()), {"a"}, heard.events());
  ASSERT_TRUE(wait(subscriber));
  const auto first = heard.last_id.load();
  RawRedis raw(server);
  EXPECT_EQ(raw.integer({"CLIENT", "KILL", "ID", std::to_string(first)}), 1);
  EXPECT_TRUE(eventually([&] { return heard.subscribed == 2; }));
  EXPECT_EQ(heard.dropped, 1);
  EXPECT_NE(heard.last_id, first);
  EXPECT_EQ(raw.integer({"PUBLISH", "a", "again"}), 1);
  EXPECT_TRUE(eventually([&] { return heard.has("a: again"); }));
}

TEST_F(SubscriberTest, a_server_that_falls_silent_is_noticed) {
  FaultProxy proxy(server.port());
  auto endpoint = endpoint_at(proxy.port());
  endpoint.command_timeout = 50ms;
  endpoint.silence = 100ms;
  Subscriber subscriber(runtime, endpoint, {"a"}, heard.events());
  ASSERT_TRUE(wait(subscriber));
  const int before = heard.dropped;
  proxy.swallow_replies(true);
  EXPECT_TRUE(eventually([&] { return heard.dropped > before; }));
  proxy.all_well();
  ASSERT_TRUE(wait(subscriber));
}

TEST_F(SubscriberTest, a_quiet_channel_is_not_taken_for_a_dead_server) {
  FaultProxy proxy(server.port());
  auto endpoint = endpoint_at(proxy.port());
  endpoint.silence = 20ms;
  Subscriber subscriber(runtime, endpoint, {"a"}, heard.events());
  ASSERT_TRUE(wait(subscriber));
  const auto before = proxy.counts().request_reads;
  EXPECT_TRUE(eventually([&] { return proxy.counts().request_reads >= before + 5; }));
  EXPECT_EQ(heard.dropped, 0);
  EXPECT_EQ(proxy.counts().connections, 1U);
}

TEST_F(SubscriberTest, a_channel_that_is_not_allowed_is_an_error_and_no_silence) {
  RawRedis(server).call({"ACL", "SETUSER", "ann", "on", ">hush", "~*", "+@all", "resetchannels"});
  auto endpoint = endpoint_at(server.port());
  endpoint.user = "ann";
  endpoint.password = "hush";
  Subscriber subscriber(runtime, endpoint, {"a", "b"}, heard.events());
  EXPECT_TRUE(eventually([&] {
    const auto refused = wait(subscriber, 100ms);
    EXPECT_FALSE(refused);
    return !refused && refused.error().message.contains("NOPERM");
  }));
}

TEST_F(SubscriberTest, questions_are_answered_before_it_subscribes_and_may_be_refused) {
  RawRedis(server).call({"ACL", "SETUSER", "deaf", "on", ">pw", "&*", "~*", "+@all", "-info"});
  auto endpoint = endpoint_at(server.port());
  endpoint.user = "deaf";
  endpoint.password = "pw";
  std::mutex mutex;
  std::vector<std::string> answers;
  auto events = heard.events();
  events.questions = {net::resp::command("INFO", "server"), net::resp::command("ECHO", "mine")};
  events.subscribed = [&](std::uint64_t, const std::vector<Reply>& replies) {
    const std::lock_guard lock(mutex);
    for (const auto& reply : replies) answers.push_back(to_text(*reply));
  };
  Subscriber subscriber(runtime, endpoint, {"a"}, std::move(events));
  ASSERT_TRUE(wait(subscriber));
  const std::lock_guard lock(mutex);
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_TRUE(answers[0].starts_with("NOPERM")) << answers[0];
  EXPECT_EQ(answers[1], "mine");
}

TEST_F(SubscriberTest, a_subscription_that_was_turned_down_is_made_anew) {
  Subscriber subscriber(runtime, endpoint_at(server.port()), {"a"}, heard.events());
  ASSERT_TRUE(wait(subscriber));
  const auto id = heard.last_id.load();
  on_the_loop(*runtime, [&] { subscriber.subscribe_anew({Errc::unavailable, "the wrong one"}); });
  EXPECT_TRUE(eventually([&] { return heard.subscribed == 2; }));
  EXPECT_NE(heard.last_id, id);
  EXPECT_EQ(heard.dropped, 1);
}

TEST_F(SubscriberTest, destroying_it_ends_those_who_wait) {
  server.stop();
  std::optional<Subscriber> subscriber;
  subscriber.emplace(runtime, endpoint_at(server.port()), std::vector<std::string>{"a"},
                     heard.events());
  std::promise<bool> end;
  runtime::spawn(subscriber->subscribed(runtime::LocalTime::max()),
                 [&](Result<void>&& result) { end.set_value(result.has_value()); });
  subscriber.reset();
  EXPECT_FALSE(end.get_future().get());
}

}  // namespace
}  // namespace holdfast::test
