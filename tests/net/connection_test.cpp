// SPDX-License-Identifier: Apache-2.0
#include "net/resp/connection.hpp"

#include "support/fault_proxy.hpp"
#include "talk.hpp"

#include <fmt/format.h>

#include <vector>

namespace holdfast::test {
namespace {

using net::resp::command;

struct ConnectionTest : testing::Test {
  RedisServer server;
  std::shared_ptr<runtime::Runtime> runtime = runtime::shared_runtime();
};

TEST_F(ConnectionTest, a_command_gets_its_reply) {
  Connection connection(runtime, endpoint_at(server.port()));
  EXPECT_EQ(ask(connection, command("ECHO", "hello")), "hello");
  EXPECT_TRUE(connection.is_connected());
}

TEST_F(ConnectionTest, an_error_of_the_server_is_a_reply) {
  Connection connection(runtime, endpoint_at(server.port()));
  const auto reply = ask(connection, command("NONSENSE"));
  ASSERT_TRUE(reply);
  EXPECT_TRUE(reply->starts_with("ERR unknown command")) << *reply;
}

TEST_F(ConnectionTest, several_commands_in_one_give_the_last_reply) {
  Connection connection(runtime, endpoint_at(server.port()));
  auto script = command("SET", "a", "1") + command("INCR", "a") + command("GET", "a");
  const auto deadline = runtime->now() + 60s;
  const auto reply = to_text(
      runtime::run_blocking(connection.send(std::move(script), deadline, {}, {.replies = 3})));
  EXPECT_EQ(reply, "2");
  EXPECT_EQ(ask(connection, command("ECHO", "own")), "own");
}

TEST_F(ConnectionTest, commands_of_one_turn_leave_in_one_write) {
  FaultProxy proxy(server.port());
  Connection connection(runtime, endpoint_at(proxy.port()));
  ASSERT_TRUE(wait_connected(connection));
  const auto before = proxy.counts();
  std::vector<std::future<Result<std::string>>> asked;
  on_the_loop(*runtime, [&] {
    for (int i = 0; i < 100; ++i) {
      asked.push_back(begin_asking(connection, command("ECHO", fmt::format("{}", i))));
    }
  });
  for (int i = 0; i < 100; ++i) EXPECT_EQ(asked[i].get(), fmt::format("{}", i));
  EXPECT_EQ(proxy.counts().request_reads - before.request_reads, 1U);
}

TEST_F(ConnectionTest, threads_that_share_it_get_their_own_replies) {
  Connection connection(runtime, endpoint_at(server.port()));
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 500; ++i) {
        const auto text = fmt::format("{}-{}", thread, i);
        if (ask(connection, command("ECHO", text)) != text) ++wrong;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

TEST_F(ConnectionTest, threads_and_the_runtime_may_send_at_once) {
  Connection connection(runtime, endpoint_at(server.port()));
  ASSERT_TRUE(wait_connected(connection));
  std::atomic<int> wrong = 0;
  std::jthread other([&] {
    for (int i = 0; i < 300; ++i) {
      const auto text = fmt::format("thread {}", i);
      if (ask(connection, command("ECHO", text)) != text) ++wrong;
    }
  });
  for (int turn = 0; turn < 100; ++turn) {
    std::vector<std::future<Result<std::string>>> asked;
    on_the_loop(*runtime, [&] {
      for (int i = 0; i < 5; ++i) {
        asked.push_back(begin_asking(connection, command("ECHO", fmt::format("{}/{}", turn, i))));
      }
    });
    for (int i = 0; i < 5; ++i) {
      if (asked[i].get() != fmt::format("{}/{}", turn, i)) ++wrong;
    }
  }
  other.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(ConnectionTest, more_than_the_socket_takes_is_written_bit_by_bit) {
  FaultProxy proxy(server.port());
  auto endpoint = endpoint_at(proxy.port());
  endpoint.command_timeout = 60s;
  Connection connection(runtime, endpoint);
  ASSERT_TRUE(wait_connected(connection));
  proxy.pause();
  const std::string much(1 << 20, 'x');
  std::vector<std::future<Result<std::string>>> asked;
  for (int i = 0; i < 30; ++i) {
    asked.push_back(begin_asking(connection, command("SET", fmt::format("{}", i), much)));
  }
  proxy.resume();
  for (auto& reply : asked) EXPECT_EQ(reply.get(), "OK");
  EXPECT_EQ(ask(connection, command("STRLEN", "29")), std::to_string(much.size()));
}

TEST_F(ConnectionTest, a_command_is_not_sent_when_its_caller_has_no_time_or_was_stopped) {
  Connection connection(runtime, endpoint_at(server.port()));
  ASSERT_TRUE(wait_connected(connection));
  EXPECT_EQ(ask(connection, command("SET", "late", "1"), 0s).error().code, Errc::unavailable);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(ask(connection, command("SET", "late", "1"), 5s, stop.get_token()).error().code,
            Errc::cancelled);
  EXPECT_EQ(ask(connection, command("EXISTS", "late")), "0");
}

TEST_F(ConnectionTest, a_deadline_that_passes_before_the_reply_leaves_the_outcome_unknown) {
  FaultProxy proxy(server.port());
  Connection connection(runtime, endpoint_at(proxy.port()));
  ASSERT_TRUE(wait_connected(connection));
  proxy.pause();
  // Until it is sent before its time is over.
  Error late{Errc::unavailable, ""};
  eventually([&] {
    const auto reply = ask(connection, command("ECHO", "late"), 50ms);
    if (!reply) late = reply.error();
    return reply || late.code != Errc::unavailable;
  });
  EXPECT_EQ(late.code, Errc::outcome_unknown);
  EXPECT_TRUE(late.message.contains(std::to_string(proxy.port()))) << late.message;
  proxy.resume();
  EXPECT_EQ(ask(connection, command("ECHO", "mine")), "mine");
  EXPECT_EQ(proxy.counts().connections, 1U);
}

TEST_F(ConnectionTest, a_stop_before_the_reply_leaves_the_outcome_unknown) {
  FaultProxy proxy(server.port());
  Connection connection(runtime, endpoint_at(proxy.port()));
  ASSERT_TRUE(wait_connected(connection));
  proxy.pause();
  std::stop_source stop;
  auto asked = begin_asking(connection, command("ECHO", "stopped"), 60s, stop.get_token());
  stop.request_stop();
  EXPECT_EQ(asked.get().error().code, Errc::outcome_unknown);
  proxy.resume();
  EXPECT_EQ(ask(connection, command("ECHO", "mine")), "mine");
}

TEST_F(ConnectionTest, stopping_and_answering_at_once_end_a_command_once) {
  Connection connection(runtime, endpoint_at(server.port()));
  ASSERT_TRUE(wait_connected(connection));
  for (int i = 0; i < 500; ++i) {
    std::stop_source stop;
    const auto text = fmt::format("{}", i);
    std::jthread stopper([&stop] { stop.request_stop(); });
    const auto reply = ask(connection, command("ECHO", text), 10s, stop.get_token());
    if (reply) {
      EXPECT_EQ(reply, text);
    }
  }
}

TEST_F(ConnectionTest, a_greeting_goes_first_on_every_connection) {
  std::atomic<int> greeted = 0, dropped = 0;
  Connection::Events events;
  events.greeting = [] {
    return std::vector{command("INCR", "greetings"), command("GET", "greetings")};
  };
  events.greeted = [&](std::vector<Reply> replies) {
    EXPECT_EQ(replies.size(), 2U);
    EXPECT_EQ(to_text(*replies[1]), std::to_string(replies[0]->integer));
    ++greeted;
  };
  events.dropped = [&](const Error&) { ++dropped; };
  Connection connection(runtime, endpoint_at(server.port()), std::move(events));
  EXPECT_EQ(ask(connection, command("GET", "greetings")), "1");
  RawRedis(server).call({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  EXPECT_TRUE(eventually([&] { return greeted == 2; }));
  EXPECT_EQ(ask(connection, command("GET", "greetings")), "2");
  EXPECT_EQ(dropped, 1);
}

TEST_F(ConnectionTest, nothing_happens_before_it_is_started) {
  std::atomic<int> greeted = 0;
  Connection::Events events;
  events.greeted = [&](std::vector<Reply>) { ++greeted; };
  RawRedis raw(server);
  const auto id = raw.integer({"CLIENT", "ID"});
  net::resp::Connection connection(runtime, endpoint_at(server.port()), std::move(events));
  on_the_loop(*runtime, [] {});
  EXPECT_EQ(RawRedis(server).integer({"CLIENT", "ID"}), id + 1) << "nobody came in between";
  EXPECT_EQ(greeted, 0);
  connection.start();
  EXPECT_EQ(ask(connection, command("ECHO", "now")), "now");
  EXPECT_EQ(greeted, 1);
}

TEST_F(ConnectionTest, a_command_for_a_prepared_connection_is_not_sent_over_another_one) {
  std::atomic<bool> is_good = false;
  net::resp::Connection* self = nullptr;
  Connection::Events events;
  events.greeted = [&](std::vector<Reply>) { self->set_prepared(is_good); };
  net::resp::Connection connection(runtime, endpoint_at(server.port()), std::move(events));
  self = &connection;
  const auto send = [&] {
    return connection.send(command("INCR", "sent"), runtime->now() + 60s, {},
                           {.only_if_prepared = true});
  };
  // Asked for before there is a connection, and answered when it turns out to be another one.
  auto end = std::make_shared<std::promise<bool>>();
  auto was_sent = end->get_future();
  runtime::spawn(send(), [end](Result<Reply>&& reply) { end->set_value(reply && *reply); });
  connection.start();
  EXPECT_FALSE(was_sent.get());
  const auto again = runtime::run_blocking(send());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_FALSE(*again);
  EXPECT_EQ(ask(connection, command("EXISTS", "sent")), "0");

  is_good = true;
  RawRedis(server).call({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  EXPECT_TRUE(eventually([&] {
    const auto reply = runtime::run_blocking(send());
    return reply && *reply && (*reply)->integer > 0;
  }));
}

TEST_F(ConnectionTest, a_server_that_was_turned_down_never_sees_a_command) {
  std::atomic<int> turned_down = 0;
  Connection* self = nullptr;
  Connection::Events events;
  events.greeted = [&](std::vector<Reply>) {
    if (turned_down++ < 3) self->reconnect({Errc::unavailable, "the wrong server"});
  };
  Endpoint endpoint = endpoint_at(server.port());
  // Made on the loop so that the event finds the pointer.
  std::optional<Connection> connection;
  on_the_loop(*runtime, [&] {
    connection.emplace(runtime, endpoint, std::move(events));
    self = &*connection;
  });
  const auto refused = ask(*connection, command("SET", "a", "1"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  EXPECT_EQ(refused.error().message, "the wrong server");
  EXPECT_TRUE(wait_connected(*connection));
  EXPECT_EQ(ask(*connection, command("EXISTS", "a")), "0");
  EXPECT_EQ(turned_down, 4);
}

}  // namespace
}  // namespace holdfast::test
