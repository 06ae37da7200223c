// SPDX-License-Identifier: Apache-2.0
//
// A password is nowhere to be seen: not in errors, not in the list of processes.
#include "cli/hide_secrets.hpp"
#include "cli/holdfast_program.hpp"
#include "support/redis_server.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace holdfast::test {
namespace {

// Takes connections and never says a word.
class SilentServer {
 public:
  SilentServer() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (bind(fd_, any, size) != 0 || listen(fd_, 16) != 0 || getsockname(fd_, any, &size) != 0) {
      throw std::runtime_error("cannot listen");
    }
    port_ = ntohs(address.sin_port);
  }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;
  ~SilentServer() { close(fd_); }
  std::string at() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  int fd_;
  int port_ = 0;
};

std::string command_line_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// As a program would see its words after hide_secrets.
std::vector<std::string> hidden(std::vector<std::string> words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size());
  for (auto& word : words) pointers.push_back(word.data());
  cli::hide_secrets(pointers);
  return {pointers.begin(), pointers.end()};
}

using Words = std::vector<std::string>;

TEST(HideSecrets, leaves_words_without_a_secret_alone) {
  const Words words{"run", "--store", "redis://h:1?timeout=1s", "me@home", "--", "ls", "-l"};
  EXPECT_EQ(hidden(words), words);
  EXPECT_EQ(hidden({}), Words{});
}

TEST(HideSecrets, masks_passwords_and_owners) {
  EXPECT_EQ(hidden({"--store", "redis://me:s3cret@h"}), (Words{"--store", "redis://me:***@h"}));
  EXPECT_EQ(hidden({"--store=redis://:s3cret@h", "x"}), (Words{"--store=redis://:***@h", "x"}));
  EXPECT_EQ(hidden({"--stroe=redis://:s3cret@h"}), (Words{"--stroe=redis://:***@h"}));
  EXPECT_EQ(hidden({"redis://h?password=s3cret"}), (Words{"redis://h?password=***"}));
  EXPECT_EQ(hidden({"--store", "redlock://a,u:s3cret@b/1,rediss://:s3cret@c"}),
            (Words{"--store", "redlock://a,u:***@b/1,rediss://:***@c"}));
  EXPECT_EQ(hidden({"--owner", "0123456789"}), (Words{"--owner", "***"}));
  EXPECT_EQ(hidden({"--owner=0123456789"}), (Words{"--owner=***"}));
}

TEST(HideSecrets, never_writes_beyond_a_word) {
  EXPECT_EQ(hidden({"--store", "redis://:x@h", "next"}),
            (Words{"--store", "redis://:***", "next"}));
  EXPECT_EQ(hidden({"--owner", "1", "next"}), (Words{"--owner", "*", "next"}));
  EXPECT_EQ(hidden({"--store"}), (Words{"--store"}));
}

TEST(HideSecrets, of_a_command_behind_the_dashes_knows_only_our_own) {
  EXPECT_EQ(hidden({"run", "x", "--", "psql", "db://me:pw@h"}),
            (Words{"run", "x", "--", "psql", "db://me:pw@h"}));
  EXPECT_EQ(hidden({"run", "x", "--", "holdfast", "--store", "redis://:s3cret@h"}),
            (Words{"run", "x", "--", "holdfast", "--store", "redis://:***@h"}));
}

class Secrets : public Cli {};

TEST_F(Secrets, are_not_in_the_list_of_processes) {
  const SilentServer server;
  const auto url = "redis://me:s3cret@" + server.at() + "?connect_timeout=20s";
  for (const Words& words : {Words{"--store", url}, Words{"--store=" + url}}) {
    auto arguments = words;
    arguments.insert(arguments.end(), {"status", "x"});
    Program program(Cli::words(arguments), with({}));
    EXPECT_TRUE(eventually([&] {
      return command_line_of(program.pid()).find("redis://me:***@") != std::string::npos;
    })) << command_line_of(program.pid());
    EXPECT_EQ(command_line_of(program.pid()).find("s3cret"), std::string::npos);
  }
}

TEST_F(Secrets, are_not_in_an_error_that_names_the_store_and_the_time) {
  const auto url = "redis://me:s3cret@127.0.0.1:" + std::to_string(free_port());
  const auto failed = holdfast({"--store", url, "status", "x"});
  EXPECT_EQ(failed.code, 69);
  EXPECT_EQ(failed.out, "");
  EXPECT_TRUE(failed.err.starts_with("holdfast: redis://me:***@127.0.0.1:")) << failed.err;
  EXPECT_NE(failed.err.find(" cannot be reached: "), std::string::npos) << failed.err;
  EXPECT_NE(failed.err.find("Connection refused (tried for "), std::string::npos) << failed.err;
  EXPECT_TRUE(failed.err.ends_with(" ms)\n")) << failed.err;
  EXPECT_EQ(failed.err.find("s3cret"), std::string::npos) << failed.err;
}

TEST_F(Secrets, open_a_store_from_a_file_and_from_a_variable) {
  const RedisServer server;
  RawRedis(server).call({"CONFIG", "SET", "requirepass", "s3cret"});
  std::ofstream(path("password")) << "s3cret\n";
  EXPECT_EQ(holdfast({"--store", server.url(), "status", "x"}).code, 69);

  const auto by_file = server.url() + "?password_file=" + path("password");
  const auto read = holdfast({"--store", by_file, "status", "x"});
  EXPECT_EQ(read.code, 0) << read.err;

  const auto by_variable = server.url() + "?password_env=REDIS_PASSWORD";
  EXPECT_EQ(
      holdfast({"--store", by_variable, "status", "x"}, {.environment = {"REDIS_PASSWORD=s3cret"}})
          .code,
      0);
  const auto unset = holdfast({"--store", by_variable, "status", "x"});
  EXPECT_EQ(unset.code, 64);
  EXPECT_NE(unset.err.find("\"REDIS_PASSWORD\""), std::string::npos) << unset.err;
}

}  // namespace
}  // namespace holdfast::test
