// SPDX-License-Identifier: Apache-2.0
#include "net/resp/connection.hpp"
#include "net/resp/subscriber.hpp"
#include "talk.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <optional>

namespace holdfast::test {
namespace {

using net::resp::command;

TEST(Fork, a_child_can_neither_use_nor_harm_the_connections_of_its_parent) {
  const RedisServer server;
  const auto runtime = runtime::shared_runtime();
  std::optional<Connection> connection(std::in_place, runtime, endpoint_at(server.port()));
  std::atomic<int> messages = 0;
  std::optional<Subscriber> subscriber;
  subscriber.emplace(runtime, endpoint_at(server.port()), std::vector<std::string>{"a"},
                     Subscriber::Events{.message = [&](auto, const auto&) { ++messages; }});
  ASSERT_TRUE(wait_connected(*connection));
  ASSERT_TRUE(runtime::run_blocking(subscriber->subscribed(runtime->now() + 60s)));

  const pid_t child = fork();
  if (child == 0) {
    const auto reply = ask(*connection, command("PING"));
    const bool is_refused = !reply && reply.error().code == Errc::unavailable;
    const bool knows = !connection->is_connected() && !subscriber->is_subscribed();
    connection.reset();
    subscriber.reset();
    _exit(is_refused && knows ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);

  EXPECT_EQ(ask(*connection, command("ECHO", "still here")), "still here");
  RawRedis(server).call({"PUBLISH", "a", "still here"});
  EXPECT_TRUE(eventually([&] { return messages == 1; }));
}

}  // namespace
}  // namespace holdfast::test
