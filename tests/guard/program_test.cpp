// SPDX-License-Identifier: Apache-2.0
//
// `holdfast guard` as it is run.
#include "guard_fixture.hpp"
#include "support/temporary_folder.hpp"

#include <csignal>
#include <regex>

namespace holdfast::guard {
namespace {

using test::Program;
using test::TemporaryFolder;

class GuardProgram : public testing::Test {
 protected:
  std::unique_ptr<Program> start(std::vector<std::string> words) {
    words.insert(words.begin(), {HOLDFAST_BINARY, "guard"});
    return std::make_unique<Program>(
        std::move(words), test::ProgramOptions{.environment = {"HOME=" + folder.path().string()}});
  }
  // Its address; empty if it did not start.
  static std::string address_of(Program& program) {
    if (!program.complains("listening")) return {};
    static const std::regex line(R"(address=(127\.0\.0\.1:\d+))");
    std::smatch match;
    const std::string log = program.err();
    return std::regex_search(log, match, line) ? match[1].str() : std::string();
  }
  static HttpAnswer post(const std::string& address, std::string path, std::string fence) {
    HttpConnection connection(address);
    connection.send(test::request_text({.method = "POST",
                                        .path = std::move(path),
                                        .headers = {{"Holdfast-Fence", std::move(fence)}}},
                                       address));
    return connection.receive();
  }
  std::string store() const { return "file:" + (folder.path() / "s").string() + "?durable=yes"; }

  TemporaryFolder folder;
};

TEST_F(GuardProgram, remembers_the_newest_fence_when_it_is_killed_and_started_again) {
  const Upstream upstream;
  const std::vector<std::string> words{"--upstream",  upstream.url(), "--listen",
                                       "127.0.0.1:0", "--store",      store()};
  {
    auto program = start(words);
    const auto address = address_of(*program);
    ASSERT_FALSE(address.empty()) << program->err();
    EXPECT_EQ(post(address, "/a", "8").status, 200);
    EXPECT_EQ(post(address, "/a", "7").status, 412);
    program->signal(SIGKILL);
    program->wait();
  }
  auto program = start(words);
  const auto address = address_of(*program);
  ASSERT_FALSE(address.empty()) << program->err();
  EXPECT_EQ(post(address, "/a", "7").status, 412);
  EXPECT_EQ(post(address, "/a", "8").status, 200);
  EXPECT_EQ(upstream.count(), 2U);
}

TEST_F(GuardProgram, two_guards_on_one_store_know_the_same_fences) {
  const Upstream upstream;
  const std::vector<std::string> words{"--upstream",  upstream.url(), "--listen",
                                       "127.0.0.1:0", "--store",      store()};
  auto one = start(words);
  auto two = start(words);
  const auto first = address_of(*one);
  const auto second = address_of(*two);
  ASSERT_FALSE(first.empty() || second.empty()) << one->err() << two->err();
  EXPECT_EQ(post(first, "/a", "8").status, 200);
  EXPECT_EQ(post(second, "/a", "7").status, 412);
  EXPECT_EQ(post(second, "/a", "9").status, 200);
  EXPECT_EQ(post(first, "/a", "8").status, 412);
}

TEST_F(GuardProgram, on_sigterm_it_finishes_what_is_under_way_and_takes_nothing_more) {
  std::atomic<bool> came = false;
  std::latch may_answer(1);
  const Upstream upstream([&](const Seen& seen, Upstream::Talk& talk) {
    came = true;
    may_answer.wait();
    Upstream::answer_ok(seen, talk);
  });
  auto program =
      start({"--upstream", upstream.url(), "--listen", "127.0.0.1:0", "--store", "memory:"});
  const auto address = address_of(*program);
  ASSERT_FALSE(address.empty()) << program->err();
  auto answer = std::async(std::launch::async, [&] { return post(address, "/a", "7"); });
  ASSERT_TRUE(eventually([&] { return came.load(); }));
  program->signal(SIGTERM);
  ASSERT_TRUE(eventually([&] { return !HttpConnection(address).is_connected(); }));
  may_answer.count_down();
  const auto got = answer.get();
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.header("connection"), "close");
  EXPECT_EQ(program->wait(), 0);
  EXPECT_TRUE(program->err().contains("stopped")) << program->err();
}

TEST_F(GuardProgram, listens_on_a_socket_file_and_reaches_one) {
  const Upstream upstream;
  const auto door = "unix:" + (folder.path() / "door.sock").string();
  auto inner = start({"--upstream", upstream.url(), "--listen", door, "--store", "memory:"});
  ASSERT_TRUE(inner->complains("listening")) << inner->err();
  auto outer = start({"--upstream", door, "--listen", "127.0.0.1:0", "--store", "memory:"});
  const auto address = address_of(*outer);
  ASSERT_FALSE(address.empty()) << outer->err();
  EXPECT_EQ(post(address, "/a", "8").status, 200);
  EXPECT_EQ(post(address, "/a", "7").status, 412);
  EXPECT_EQ(upstream.seen().front().header("X-Forwarded-For"), "127.0.0.1");
}

TEST_F(GuardProgram, speaks_tls_to_the_upstream_and_looks_at_its_certificate) {
  const auto file = [&](const char* name) { return (folder.path() / name).string(); };
  ASSERT_EQ(test::run({"openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout",
                       file("key.pem"), "-out", file("cert.pem"), "-days", "2", "-subj",
                       "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"})
                .code,
            0);
  Program service({HOLDFAST_BINARY, "serve", "--store", "memory:", "--listen", "127.0.0.1:0",
                   "--tls-cert", file("cert.pem"), "--tls-key", file("key.pem")},
                  {.environment = {"HOME=" + folder.path().string()}});
  const auto behind = address_of(service);
  ASSERT_FALSE(behind.empty()) << service.err();
  const auto status_with = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"--upstream",  "https://" + behind, "--listen",
                                   "127.0.0.1:0", "--store",           "memory:"};
    words.insert(words.end(), more.begin(), more.end());
    auto program = start(words);
    const auto address = address_of(*program);
    HttpConnection connection(address);
    connection.send(test::request_text({.path = "/v1/locks"}, "localhost"));
    return connection.receive().status;
  };
  EXPECT_EQ(status_with({"--upstream-ca", file("cert.pem")}), 200);
  EXPECT_EQ(status_with({}), 502) << "nobody known has signed it";
}

TEST_F(GuardProgram, bad_options_are_refused_by_name) {
  const std::pair<std::vector<std::string>, std::string> bad[] = {
      {{}, "--upstream"},
      {{"--upstream", "nowhere"}, "--upstream"},
      {{"--upstream", "http://a", "--resource", "query"}, "--resource"},
      {{"--upstream", "http://a", "--keep", "1s"}, "--keep"},
      {{"--upstream", "http://a", "--keep", "31d"}, "--keep"},
      {{"--upstream", "http://a", "--keep", "soon"}, "--keep"},
      {{"--upstream", "http://a", "--missing", "maybe"}, "--missing"},
      {{"--upstream", "http://a", "--timeout", "1ms"}, "--timeout"},
      {{"--upstream", "http://a", "--timeout", "2h"}, "--timeout"},
      {{"--upstream", "http://a", "--listen", "a.example:80"}, "--listen"},
      {{"--upstream", "http://a", "--max-body", "16777217"}, "--max-body"},
      {{"--upstream", "http://a", "--max-body", "-1"}, "--max-body"},
      {{"--upstream", "http://a", "--threads", "0"}, "--threads"},
      {{"--upstream", "http://a", "--host", "mine"}, "--host"},
      {{"--upstream", "http://a", "--upstream-ca", "x.pem"}, "--upstream-ca"},
  };
  for (const auto& [words, option] : bad) {
    auto program = start(words);
    EXPECT_EQ(program->wait(), 64) << option;
    EXPECT_TRUE(program->err().contains(option)) << option << ": " << program->err();
  }
}

}  // namespace
}  // namespace holdfast::guard
