// SPDX-License-Identifier: Apache-2.0
//
// The ways into a server: socket files, IPv6, names, passwords, databases.
#include "net/resp/connection.hpp"
#include "talk.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace holdfast::test {
namespace {

using net::resp::command;

struct Entrance : testing::Test {
  std::shared_ptr<runtime::Runtime> runtime = runtime::shared_runtime();
};

bool has_ipv6() {
  const int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  const bool can = bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  close(fd);
  return can;
}

TEST_F(Entrance, a_socket_file) {
  const RedisServer server;
  auto endpoint = endpoint_at(1);
  endpoint.unix_path = server.unix_path();
  Connection connection(runtime, endpoint);
  EXPECT_EQ(ask(connection, command("PING")), "PONG");
}

TEST_F(Entrance, a_socket_file_that_is_not_there_is_named) {
  auto endpoint = endpoint_at(1);
  endpoint.unix_path = "/nowhere/redis.sock";
  Connection connection(runtime, endpoint);
  const auto reply = ask(connection, command("PING"));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Errc::unavailable);
  EXPECT_TRUE(reply.error().message.contains("unix:/nowhere/redis.sock"));
  EXPECT_TRUE(reply.error().message.contains("No such file")) << reply.error().message;
}

TEST_F(Entrance, an_ipv6_address) {
  if (!has_ipv6()) GTEST_SKIP() << "this machine has no ::1";
  const RedisServer server;
  auto endpoint = endpoint_at(server.port());
  endpoint.host = "::1";
  Connection connection(runtime, endpoint);
  EXPECT_EQ(ask(connection, command("PING")), "PONG");
}

TEST_F(Entrance, a_host_name) {
  const RedisServer server;
  auto endpoint = endpoint_at(server.port());
  endpoint.host = "localhost";
  Connection connection(runtime, endpoint);
  EXPECT_EQ(ask(connection, command("PING")), "PONG");
}

TEST_F(Entrance, a_host_that_does_not_exist) {
  auto endpoint = endpoint_at(6379);
  endpoint.host = "no-such-host.invalid";
  Connection connection(runtime, endpoint);
  const auto reply = ask(connection, command("PING"));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Errc::unavailable);
  EXPECT_TRUE(reply.error().message.starts_with("no-such-host.invalid:6379: "));
}

TEST_F(Entrance, nobody_listens) {
  Connection connection(runtime, endpoint_at(free_port()));
  const auto reply = ask(connection, command("PING"));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Errc::unavailable);
  EXPECT_TRUE(reply.error().message.contains("Connection refused")) << reply.error().message;
}

TEST_F(Entrance, a_database) {
  const RedisServer server;
  auto endpoint = endpoint_at(server.port());
  endpoint.database = 3;
  Connection connection(runtime, endpoint);
  ASSERT_EQ(ask(connection, command("SET", "a", "b")), "OK");
  RawRedis raw(server);
  EXPECT_EQ(raw.text({"GET", "a"}), "");
  raw.call({"SELECT", "3"});
  EXPECT_EQ(raw.text({"GET", "a"}), "b");
}

TEST_F(Entrance, a_database_that_is_not_there) {
  const RedisServer server;
  auto endpoint = endpoint_at(server.port());
  endpoint.database = 1000;
  Connection connection(runtime, endpoint);
  const auto reply = ask(connection, command("PING"));
  ASSERT_FALSE(reply);
  EXPECT_TRUE(reply.error().message.contains("out of range")) << reply.error().message;
}

TEST_F(Entrance, the_password_of_the_default_user) {
  const RedisServer server({"--requirepass", "hush"});
  auto endpoint = endpoint_at(server.port());
  endpoint.password = "hush";
  Connection connection(runtime, endpoint);
  EXPECT_EQ(ask(connection, command("PING")), "PONG");
}

TEST_F(Entrance, a_user_of_the_servers_list) {
  const RedisServer server;
  RawRedis(server).call({"ACL", "SETUSER", "ann", "on", ">hush", "~*", "+@all"});
  auto endpoint = endpoint_at(server.port());
  endpoint.user = "ann";
  endpoint.password = "hush";
  Connection connection(runtime, endpoint);
  EXPECT_EQ(ask(connection, command("ACL", "WHOAMI")), "ann");
}

TEST_F(Entrance, a_wrong_password_is_refused_and_not_repeated_in_the_message) {
  const RedisServer server({"--requirepass", "hush"});
  auto endpoint = endpoint_at(server.port());
  endpoint.password = "gossip";
  Connection connection(runtime, endpoint);
  const auto reply = ask(connection, command("PING"));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Errc::unavailable);
  EXPECT_TRUE(reply.error().message.contains("WRONGPASS")) << reply.error().message;
  EXPECT_FALSE(reply.error().message.contains("gossip"));
  const auto connected = wait_connected(connection, 100ms);
  ASSERT_FALSE(connected);
  EXPECT_TRUE(connected.error().message.contains("WRONGPASS")) << connected.error().message;
}

TEST_F(Entrance, a_password_is_missing) {
  const RedisServer server({"--requirepass", "hush"});
  Connection connection(runtime, endpoint_at(server.port()));
  const auto reply = ask(connection, command("PING"));
  ASSERT_FALSE(reply);
  EXPECT_TRUE(reply.error().message.contains("NOAUTH")) << reply.error().message;
}

TEST_F(Entrance, a_password_that_becomes_right_lets_in_by_itself) {
  RedisServer server({"--requirepass", "hush"});
  auto endpoint = endpoint_at(server.port());
  endpoint.password = "new";
  Connection connection(runtime, endpoint);
  ASSERT_FALSE(wait_connected(connection, 50ms));
  RawRedis raw(server);
  raw.call({"AUTH", "hush"});
  raw.call({"CONFIG", "SET", "requirepass", "new"});
  EXPECT_TRUE(wait_connected(connection));
}

TEST_F(Entrance, a_server_that_is_full_says_so) {
  const RedisServer server({"--maxclients", "1"});
  RawRedis first(server);
  first.call({"PING"});
  Connection connection(runtime, endpoint_at(server.port()));
  const auto reply = ask(connection, command("PING"));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Errc::unavailable);
}

}  // namespace
}  // namespace holdfast::test
