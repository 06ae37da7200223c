// SPDX-License-Identifier: Apache-2.0
//
// Servers that stop, die and come back, and connections that are destroyed under their commands.
#include "net/resp/connection.hpp"
#include "support/fault_proxy.hpp"
#include "raw_server.hpp"
#include "talk.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <vector>

namespace holdfast::test {
namespace {

using net::resp::command;

struct LossTest : testing::Test {
  Endpoint impatient() const {
    auto endpoint = endpoint_at(server.port());
    endpoint.command_timeout = 150ms;
    return endpoint;
  }
  RedisServer server;
  std::shared_ptr<runtime::Runtime> runtime = runtime::shared_runtime();
};

TEST_F(LossTest, a_stopped_server_loses_its_connection_and_the_outcome_is_unknown) {
  std::atomic<int> dropped = 0;
  Connection::Events events;
  events.dropped = [&](const Error&) { ++dropped; };
  Connection connection(runtime, impatient(), std::move(events));
  ASSERT_TRUE(wait_connected(connection));
  server.stop();
  const auto begun = std::chrono::steady_clock::now();
  const auto reply = ask(connection, command("SET", "a", "1"));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, at_most(5s));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Errc::outcome_unknown);
  EXPECT_TRUE(reply.error().message.contains("nothing was heard for 150 ms"))
      << reply.error().message;
  EXPECT_EQ(dropped, 1);
  server.cont();
  EXPECT_TRUE(eventually([&] { return ask(connection, command("ECHO", "mine")) == "mine"; }));
}

TEST_F(LossTest, a_server_that_is_only_slow_now_and_then_keeps_its_connection) {
  FaultProxy proxy(server.port());
  auto endpoint = endpoint_at(proxy.port());
  endpoint.command_timeout = 5s;
  Connection connection(runtime, endpoint);
  ASSERT_TRUE(wait_connected(connection));
  for (int i = 0; i < 5; ++i) {
    proxy.delay_replies(i % 2 == 0 ? 100ms : 0ms);
    EXPECT_EQ(ask(connection, command("ECHO", "mine")), "mine");
  }
  EXPECT_EQ(proxy.counts().connections, 1U);
}

// A connection that is dropped for it would take the other commands along, and send them twice.
TEST_F(LossTest, a_call_that_runs_out_of_time_leaves_the_connection_to_the_others) {
  FaultProxy proxy(server.port());
  Connection connection(runtime, endpoint_at(proxy.port()));
  ASSERT_TRUE(wait_connected(connection));
  proxy.delay_replies(900ms);
  auto impatient = begin_asking(connection, command("ECHO", "late"), 500ms);
  auto patient = begin_asking(connection, command("ECHO", "mine"), 20s);
  const auto late = impatient.get();
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Errc::outcome_unknown);
  EXPECT_EQ(patient.get(), "mine");
  EXPECT_EQ(proxy.counts().connections, 1U);
}

TEST_F(LossTest, a_server_that_was_killed_and_restarted_is_found_again) {
  Connection connection(runtime, endpoint_at(server.port()));
  ASSERT_EQ(ask(connection, command("PING")), "PONG");
  server.kill();
  ASSERT_TRUE(eventually([&] { return !connection.is_connected(); }));
  const auto reply = ask(connection, command("PING"));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Errc::unavailable);
  server.restart();
  ASSERT_TRUE(wait_connected(connection));
  EXPECT_EQ(ask(connection, command("PING")), "PONG");
}

TEST_F(LossTest, while_the_next_attempt_is_not_due_a_command_ends_at_once) {
  server.kill();
  Connection connection(runtime, endpoint_at(server.port()));
  ASSERT_FALSE(wait_connected(connection, 300ms));
  // The pause between attempts is longer by now than a command has time.
  int at_once = 0;
  for (int i = 0; i < 20; ++i) {
    const auto begun = std::chrono::steady_clock::now();
    const auto reply = ask(connection, command("PING"));
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, Errc::unavailable);
    EXPECT_TRUE(reply.error().message.contains("refused")) << reply.error().message;
    if (std::chrono::steady_clock::now() - begun < at_most(50ms)) ++at_once;
  }
  EXPECT_GT(at_once, 15);
}

TEST_F(LossTest, a_command_waits_for_the_connection_that_is_being_made) {
  FaultProxy proxy(server.port());
  proxy.delay_replies(100ms);
  Connection connection(runtime, endpoint_at(proxy.port()));
  EXPECT_FALSE(connection.is_connected());
  EXPECT_EQ(ask(connection, command("ECHO", "patient")), "patient");
}

TEST_F(LossTest, a_deadline_that_passes_before_the_connection_is_made_sends_nothing) {
  FaultProxy proxy(server.port());
  proxy.pause();
  Connection connection(runtime, endpoint_at(proxy.port()));
  const auto reply = ask(connection, command("SET", "late", "1"), 50ms);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Errc::unavailable);
  std::stop_source stop;
  auto asked = begin_asking(connection, command("SET", "late", "1"), 10s, stop.get_token());
  stop.request_stop();
  EXPECT_EQ(asked.get().error().code, Errc::cancelled);
  proxy.all_well();
  ASSERT_TRUE(wait_connected(connection));
  EXPECT_EQ(ask(connection, command("EXISTS", "late")), "0");
}

TEST_F(LossTest, an_attempt_that_hangs_is_given_up) {
  FaultProxy proxy(server.port());
  proxy.swallow_replies(true);
  auto endpoint = endpoint_at(proxy.port());
  endpoint.connect_timeout = 100ms;
  Connection connection(runtime, endpoint);
  const auto reply = ask(connection, command("PING"));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Errc::unavailable);
  EXPECT_TRUE(reply.error().message.contains("no connection within 100 ms"))
      << reply.error().message;
  proxy.all_well();
  EXPECT_TRUE(wait_connected(connection));
}

TEST_F(LossTest, a_server_that_closes_the_door_each_time_is_not_asked_in_a_tight_loop) {
  FaultProxy proxy(server.port());
  Connection connection(runtime, endpoint_at(proxy.port()));
  ASSERT_TRUE(wait_connected(connection));
  const auto begun = std::chrono::steady_clock::now();
  ASSERT_TRUE(eventually([&] {
    proxy.cut();
    return proxy.counts().connections > 4;
  }));
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 4 * 15ms) << "20 ms, give or take a quarter";
}

TEST_F(LossTest, reconnecting_ends_what_is_in_flight_and_goes_on) {
  FaultProxy proxy(server.port());
  Connection connection(runtime, endpoint_at(proxy.port()));
  ASSERT_TRUE(wait_connected(connection));
  proxy.delay_replies(10s);
  auto asked = begin_asking(connection, command("ECHO", "lost"));
  ASSERT_TRUE(eventually([&] { return proxy.counts().request_reads >= 2; }));
  connection.reconnect({Errc::unavailable, "the wrong server"});
  const auto reply = asked.get();
  EXPECT_EQ(reply.error().code, Errc::outcome_unknown);
  EXPECT_TRUE(reply.error().message.contains("the wrong server")) << reply.error().message;
  proxy.all_well();
  ASSERT_TRUE(wait_connected(connection));
  EXPECT_EQ(ask(connection, command("ECHO", "mine")), "mine");
}

TEST_F(LossTest, destroying_it_ends_its_commands) {
  for (const bool on_loop : {false, true}) {
    server.cont();
    std::optional<Connection> connection(std::in_place, runtime, endpoint_at(server.port()));
    ASSERT_TRUE(wait_connected(*connection));
    server.stop();
    std::vector<std::future<Result<std::string>>> asked;
    asked.reserve(20);
    for (int i = 0; i < 20; ++i) asked.push_back(begin_asking(*connection, command("PING")));
    if (on_loop)
      on_the_loop(*runtime, [&] { connection.reset(); });
    else
      connection.reset();
    for (auto& reply : asked) EXPECT_EQ(reply.get().error().code, Errc::outcome_unknown);
  }
}

TEST_F(LossTest, destroying_it_before_it_is_connected_ends_its_commands) {
  server.stop();
  std::optional<Connection> connection(std::in_place, runtime, endpoint_at(server.port()));
  auto asked = begin_asking(*connection, command("PING"));
  connection.reset();
  EXPECT_EQ(asked.get().error().code, Errc::unavailable);
}

TEST_F(LossTest, the_reply_to_a_command_may_destroy_it) {
  auto connection = std::make_shared<std::optional<Connection>>();
  connection->emplace(runtime, endpoint_at(server.port()));
  ASSERT_TRUE(wait_connected(**connection));
  std::vector<std::future<Result<std::string>>> others;
  std::promise<void> destroyed;
  on_the_loop(*runtime, [&] {
    runtime::spawn((*connection)->send(command("PING"), runtime->now() + 5s),
                   [connection, &destroyed](Result<Reply>&&) {
                     connection->reset();
                     destroyed.set_value();
                   });
    for (int i = 0; i < 10; ++i) others.push_back(begin_asking(**connection, command("PING")));
  });
  destroyed.get_future().wait();
  for (auto& other : others) {
    const auto reply = other.get();
    if (!reply) {
      EXPECT_EQ(reply.error().code, Errc::outcome_unknown);
    }
  }
}

// A server that takes a connection and reads nothing for now.
class SleepySocket {
 public:
  SleepySocket() {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int little = 4096;
    ::setsockopt(listener_, SOL_SOCKET, SO_RCVBUF, &little, sizeof(little));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    ::listen(listener_, 16);
  }
  SleepySocket(const SleepySocket&) = delete;
  SleepySocket& operator=(const SleepySocket&) = delete;
  ~SleepySocket() { ::close(listener_); }

  std::uint16_t port() const { return port_; }
  // Lets the client in.
  int accept() const {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    constexpr std::string_view welcome = "+PONG\r\n+OK\r\n";
    EXPECT_EQ(::send(fd, welcome.data(), welcome.size(), MSG_NOSIGNAL), std::ssize(welcome));
    return fd;
  }
  // All that ever arrives by it.
  static std::size_t read_to_the_end(int fd) {
    std::size_t all = 0;
    char bytes[65536];
    for (ssize_t got = 0; (got = ::read(fd, bytes, sizeof(bytes))) > 0;) {
      all += static_cast<std::size_t>(got);
    }
    ::close(fd);
    return all;
  }

 private:
  int listener_ = -1;
  std::uint16_t port_ = 0;
};

// More than the other side takes without reading, less than our kernel does.
const std::string much(256 << 10, 'x');

TEST_F(LossTest, a_command_that_was_given_up_does_not_arrive_later) {
  const SleepySocket sleepy;
  auto endpoint = endpoint_at(sleepy.port());
  endpoint.command_timeout = 100ms;
  Connection connection(runtime, endpoint);
  const int peer = sleepy.accept();
  ASSERT_TRUE(wait_connected(connection));
  const auto reply = ask(connection, command("SET", "a", much));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Errc::outcome_unknown);
  // It connects again only after it has let go of this one.
  const int next = sleepy.accept();
  EXPECT_LT(SleepySocket::read_to_the_end(peer), much.size() / 4);
  ::close(next);
}

TEST_F(LossTest, what_was_sent_before_an_orderly_end_arrives) {
  const SleepySocket sleepy;
  std::optional<Connection> connection(std::in_place, runtime, endpoint_at(sleepy.port()));
  const int peer = sleepy.accept();
  ASSERT_TRUE(wait_connected(*connection));
  auto sent = begin_asking(*connection, command("SET", "a", much));
  connection.reset();
  EXPECT_EQ(sent.get().error().code, Errc::outcome_unknown);
  EXPECT_GT(SleepySocket::read_to_the_end(peer), much.size());
}

TEST_F(LossTest, making_and_destroying_many_leaves_nothing_behind) {
  RawRedis raw(server);
  for (int i = 0; i < 100; ++i) {
    Connection connection(runtime, endpoint_at(server.port()));
    if (i % 2 == 0) std::ignore = begin_asking(connection, command("PING"));
    if (i % 5 == 0) std::ignore = wait_connected(connection);
  }
  EXPECT_TRUE(eventually([&] {
    const auto list = raw.text({"CLIENT", "LIST"});
    return std::count(list.begin(), list.end(), '\n') == 1;
  }));
}

// Bytes that keep coming show that the line is alive; they do not give a caller more time.
TEST_F(LossTest, a_call_ends_by_its_deadline_although_bytes_keep_coming) {
  std::atomic<bool> is_over{false};
  const RawServer trickling([&](RawPeer& peer, int) {
    peer.say("+PONG\r\n+OK\r\n");
    peer.request();
    peer.say("$1000000\r\n");
    while (!is_over) {
      peer.say("x");
      std::this_thread::sleep_for(1ms);
    }
  });
  Connection connection(runtime::shared_runtime(), endpoint_at(trickling.port()));
  ASSERT_TRUE(wait_connected(connection, 5s));
  auto asked = begin_asking(connection, command("ECHO", "\r\n\r\n"), 500ms);
  const bool in_time = asked.wait_for(4s) == std::future_status::ready;
  is_over = true;
  EXPECT_TRUE(in_time) << "the caller gave it half a second";
  asked.wait_for(30s);
}

}  // namespace
}  // namespace holdfast::test
