// SPDX-License-Identifier: Apache-2.0
//
// A real redis-server of the test's own, and a plain client to look behind the library's back.
#pragma once

#include "net/resp/reply.hpp"
#include "support/temporary_folder.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

// A loopback port nobody listens on. Somebody else may take it before you do.
std::uint16_t free_port();

// The server under test: $HOLDFAST_REDIS_SERVER, a path or a name to be found in PATH, or
// redis-server. Its version is asked for once.
struct RedisVersion {
  std::string name;  // "Redis 6.2.16", "Valkey 8.0.1"
  bool is_valkey = false;
  int major = 0;
  int minor = 0;
  // Whether it has what came with that version of Redis. Valkey began as Redis 7.2.
  bool has(int of_major, int of_minor) const {
    return std::pair(major, minor) >= std::pair(of_major, of_minor);
  }
};
const RedisVersion& redis_version();

// For a test that needs a newer server than the one under test; says so.
#define HOLDFAST_NEEDS_REDIS(major, minor)                                                \
  if (!holdfast::test::redis_version().has(major, minor))                                 \
  GTEST_SKIP() << "this needs Redis " #major "." #minor ", and the server under test is " \
               << holdfast::test::redis_version().name

// On a free loopback port and a socket file, in a temporary folder, without persistence. It dies
// with this object, and with the thread that made it, even if that one crashes. Throws when the
// server does not come up.
class RedisServer {
 public:
  // The arguments follow our own on the command line and win: {"--maxmemory", "5mb"}. What an older
  // server does not know is left out where it allows the same without being asked.
  // The environment is our own and these, NAME=VALUE.
  explicit RedisServer(std::vector<std::string> arguments = {},
                       std::vector<std::string> environment = {});
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;
  ~RedisServer();

  std::uint16_t port() const { return port_; }
  pid_t pid() const { return pid_; }
  std::string url() const;  // redis://127.0.0.1:PORT
  const std::filesystem::path& folder() const { return folder_.path(); }
  std::string unix_path() const { return folder() / "redis.sock"; }
  // What the server wrote so far, for a failed test to show.
  std::string log() const;

  void stop();     // SIGSTOP: connections stay, nothing answers
  void cont();     // SIGCONT
  void kill();     // SIGKILL, as by the kernel or a power cut
  void restart();  // on the same port and folder; kills it first if it still runs

 private:
  bool start(std::chrono::milliseconds patience);
  // In the child: becomes the server, or ends.
  [[noreturn]] void become_server(char* const* words, const char* log_path, pid_t parent) const;
  bool wait_for_answer(std::chrono::milliseconds patience);
  bool has_ended();

  TemporaryFolder folder_;
  const std::vector<std::string> arguments_;
  const std::vector<std::string> environment_;
  std::uint16_t port_ = 0;
  pid_t pid_ = 0;
};

// One blocking connection, without any of the library's code. Throws std::runtime_error when the
// connection fails; an error of the server is a reply.
class RawRedis {
 public:
  using Reply = net::resp::Reply;

  explicit RawRedis(std::uint16_t port,
                    std::chrono::milliseconds timeout = std::chrono::seconds(5));
  explicit RawRedis(const std::string& unix_path,
                    std::chrono::milliseconds timeout = std::chrono::seconds(5));
  explicit RawRedis(const RedisServer& server) : RawRedis(server.port()) {}

  Reply call(const std::vector<std::string>& words);
  std::string text(const std::vector<std::string>& words);  // "" for nil; an error's text too
  long long integer(const std::vector<std::string>& words);

  // Apart: many commands in one round trip, or messages that nobody asked for.
  void send(const std::string& command);  // in RESP
  Reply receive();

 private:
  struct Free {
    void operator()(redisContext* context) const noexcept { redisFree(context); }
  };
  void check_and_bound(std::chrono::milliseconds timeout);

  std::unique_ptr<redisContext, Free> context_;
};

}  // namespace holdfast::test
