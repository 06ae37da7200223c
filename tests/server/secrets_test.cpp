// SPDX-License-Identifier: Apache-2.0
//
// Secrets are planted, everything that can be asked for is asked for, and everything that came out
// of the server is searched for them.
#include "server/auth/secret.hpp"
#include "server_fixture.hpp"
#include "support/redis_server.hpp"

#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <thread>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;

const std::string owner = "canary-owner-5f2c";
const std::string token = "canary-token-91ab";
const std::string wrong_token = "canary-wrong-77de";
const std::string password = "canary-password-3c40";
const std::string request_key = "canary-request-08fe";

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class SecretsTest : public ServerTest {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::vector<std::string> words(const std::string& store, const std::string& format) {
    std::ofstream(path("tokens")) << "boss " << to_hex(hash_of(token)) << " admin *\n";
    EXPECT_EQ(chmod(path("tokens").c_str(), 0600), 0);
    return {"--store", store,          "--log-level",  "debug",   "--log-format",
            format,    "--token-file", path("tokens"), "--audit", path("audit")};
  }
  // An answer that may contain the owner: a lease or a session of the caller's own.
  HttpAnswer own(const std::string& address, HttpCall what) {
    what.headers["Authorization"] = "Bearer " + token;
    return call_at(address, what);
  }
  // Any other answer is searched.
  HttpAnswer ask(const std::string& address, const HttpCall& what) {
    auto answer = own(address, what);
    for (const auto& [name, value] : answer.headers) seen_ += name + ": " + value + "\n";
    seen_ += answer.body + "\n";
    return answer;
  }
  void search(const std::string& where, const std::string& text) {
    for (const auto& secret : secrets_) {
      EXPECT_EQ(text.find(secret), std::string::npos)
          << where << " has " << secret << ": "
          << text.substr(text.find(secret) - std::min<std::size_t>(200, text.find(secret)), 400);
    }
  }
  void make_calls(const std::string& address);
  void search_all(test::Program& program) {
    program.signal(SIGTERM);
    EXPECT_EQ(program.wait(), 0);
    search("an answer", seen_);
    search("the log", program.err());
    search("standard output", program.out());
    search("the audit trail", read_file(path("audit")));
  }

  std::string seen_;
  std::vector<std::string> secrets_{owner, token, wrong_token, password, request_key};

 private:
  test::TemporaryFolder folder_;
};

void SecretsTest::make_calls(const std::string& address) {
  const auto body = [](const std::string& who, const std::string& more = {}) {
    return R"({"owner":")" + who + "\"" + more + "}";
  };
  HttpConnection stream(address);
  stream.send(fmt::format("GET /v1/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
                          address, token));
  const auto taken = own(address, {.method = "POST",
                                   .path = "/v1/locks/a/acquire",
                                   .body = body(owner, R"(,"ttl":"1h")"),
                                   .headers = {{"Idempotency-Key", request_key}}});
  own(address, {.method = "POST", .path = "/v1/locks/a/renew", .body = body(owner)});
  const auto made_up =
      own(address, {.method = "POST", .path = "/v1/locks/b/acquire", .body = "{}"});
  if (made_up.status == 200) secrets_.push_back(made_up.text("owner"));
  own(address, {.method = "POST", .path = "/v1/idempotency/a/begin", .body = body(owner)});
  const auto session = own(address, {.method = "POST", .path = "/v1/sessions"}).text("session");
  const auto in_session = R"({"session":")" + session + "\"}";
  if (!session.empty()) {
    secrets_.push_back(session);
    const auto lease =
        own(address, {.method = "POST", .path = "/v1/locks/c/acquire", .body = in_session});
    if (lease.status == 200) secrets_.push_back(lease.text("owner"));
    own(address, {.method = "POST", .path = "/v1/sessions:keep-alive", .body = in_session});
  }
  const std::vector<HttpCall> calls{
      {.method = "POST", .path = "/v1/locks/a/acquire", .body = body("another")},
      {.method = "POST", .path = "/v1/locks/a/acquire", .body = R"({"wait":"50ms"})"},
      {.method = "POST", .path = "/v1/locks/b/renew", .body = body(owner)},
      {.method = "POST", .path = "/v1/locks/b/release", .body = body(owner)},
      {.method = "POST", .path = "/v1/locks/none/release", .body = body(owner)},
      {.method = "POST", .path = "/v1/locks/d/acquire", .body = body(owner, R"(,"ttl":"0s")")},
      {.method = "POST", .path = "/v1/locks/d/acquire", .body = body(owner, R"(,"x":1)")},
      {.method = "POST", .path = "/v1/locks/d/acquire", .body = body(owner + "\\u0000")},
      {.method = "POST",
       .path = "/v1/locks/d/acquire",
       .body = body(owner + std::string(2'000, 'x'))},
      {.method = "POST", .path = "/v1/locks/d/acquire", .body = body(owner) + "x"},
      {.method = "POST", .path = "/v1/locks/d/acquire", .body = R"({"session":")" + owner + "\"}"},
      {.method = "POST",
       .path = "/v1/locks/d/acquire",
       .body = R"({"request":"other"})",
       .headers = {{"Idempotency-Key", request_key}}},
      {.method = "POST",
       .path = "/api/locks/simple/e",
       .body = R"({"durationMs":0})",
       .headers = {{"Idempotency-Key", request_key}}},
      {.method = "POST",
       .path = "/api/locks/simple/e",
       .body = R"({"durationMs":1})",
       .headers = {{"Idempotency-Key", request_key}}},
      {.method = "POST", .path = "/v1/idempotency/a/begin", .body = body("another")},
      {.method = "POST", .path = "/v1/idempotency/a/complete", .body = body("another")},
      {.method = "POST", .path = "/v1/idempotency/a/abandon", .body = body(owner)},
      {.method = "POST", .path = "/v1/idempotency/a/fail", .body = body(owner)},
      {.path = "/v1/idempotency/a"},
      {.method = "DELETE", .path = "/v1/idempotency/a", .body = R"({"reason":"x"})"},
      {.method = "POST", .path = "/v1/sessions:end", .body = R"({"session":"unknown"})"},
      {.path = "/v1/locks"},
      {.path = "/v1/locks/a"},
      {.path = "/v1/locks/c"},
      {.path = "/v1/sessions"},
      {.path = "/v1/stats"},
      {.path = "/v1/deadlocks"},
      {.path = "/v1/audit"},
      {.path = "/metrics"},
      {.path = "/health"},
      {.path = "/v1/locks?token=" + wrong_token},
      {.path = "/nothing/" + wrong_token},
      {.method = "PATCH", .path = "/v1/locks"},
  };
  for (const auto& each : calls) ask(address, each);
  const auto refused = call_at(
      address, {.path = "/v1/locks", .headers = {{"Authorization", "Bearer " + wrong_token}}});
  EXPECT_EQ(refused.status, 401);
  seen_ += refused.body;
  HttpConnection broken(address);
  broken.send("GET / HTTP/9.9\r\nAuthorization: Bearer " + token + "\r\n\r\n");
  seen_ += broken.receive_to_end();
  ask(address, {.method = "POST", .path = "/v1/locks/a/release", .body = body(owner)});
  ask(address, {.method = "DELETE", .path = "/v1/locks/b", .body = R"({"reason":"test"})"});
  ask(address, {.method = "POST", .path = "/v1/sessions:end", .body = in_session});
  ask(address, {.path = "/v1/audit"});
  seen_ += stream.receive_for(200ms);
}

TEST_F(SecretsTest, no_secret_comes_out_of_a_server_that_works) {
  for (const auto* format : {"text", "json"}) {
    ServedProgram served(words("memory:", format));
    ASSERT_FALSE(served.address().empty()) << served.program().err();
    make_calls(served.address());
    EXPECT_NE(seen_.find("\"acquired\""), std::string::npos) << "something happened";
    served.program().signal(SIGHUP);
    EXPECT_TRUE(served.program().complains("read again"));
    search_all(served.program());
  }
}

TEST_F(SecretsTest, no_secret_comes_out_of_a_server_whose_store_goes_away) {
  for (const auto* format : {"text", "json"}) {
    test::RedisServer redis;
    ASSERT_EQ(test::RawRedis(redis).text({"CONFIG", "SET", "requirepass", password}), "OK");
    ServedProgram served(
        words(fmt::format("redis://:{}@127.0.0.1:{}", password, redis.port()), format));
    ASSERT_FALSE(served.address().empty()) << served.program().err();
    ASSERT_EQ(ask(served.address(), {.path = "/v1/locks"}).status, 200);
    redis.kill();
    make_calls(served.address());
    EXPECT_NE(seen_.find("unavailable"), std::string::npos) << "it was away";
    search_all(served.program());
  }
}

TEST_F(SecretsTest, a_password_that_the_store_refuses_is_not_repeated) {
  test::RedisServer redis;
  const auto refused =
      test::run({HOLDFAST_BINARY, "serve", "--listen", "127.0.0.1:0", "--store",
                 fmt::format("redis://nobody:{}@127.0.0.1:{}", password, redis.port())},
                {.environment = {"HOME=/nonexistent"}});
  EXPECT_NE(refused.code, 0);
  search("the complaint", refused.err + refused.out);
}

TEST_F(SecretsTest, a_password_is_in_no_complaint_about_the_address_of_a_store) {
  for (const auto& store : {"redis://user:" + password + "@", "redis://:" + password + "@h:x",
                            "nosuch://u:" + password + "@h", "redis://h?password=" + password,
                            "redis://u:" + password + "@h?nosuch=1"}) {
    test::Program program({HOLDFAST_BINARY, "serve", "--listen", "127.0.0.1:0", "--store", store},
                          {.environment = {"HOME=/nonexistent"}});
    test::eventually([&] { return program.ended().has_value(); }, 3s);
    search(store, program.err() + program.out());
  }
}

}  // namespace
}  // namespace holdfast::server
