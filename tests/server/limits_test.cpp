// SPDX-License-Identifier: Apache-2.0
//
// Every limit of ServerOptions::limits that a caller can run into, and what it is told.
#include "net/http/listener.hpp"
#include "server/auth/secret.hpp"
#include "server_fixture.hpp"
#include "support/program.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;

class LimitsTest : public ServerTest {
 protected:
  std::string host() const { return "Host: " + address + "\r\n"; }
  std::unique_ptr<HttpConnection> wait_for(const std::string& name) {
    auto connection = std::make_unique<HttpConnection>(address);
    const auto before = get("/v1/stats").number("waiters");
    connection->send(test::request_text(
        {.method = "POST", .path = "/v1/locks/" + name + "/acquire", .body = R"({"wait":"1h"})"},
        address));
    EXPECT_TRUE(test::eventually([&] { return get("/v1/stats").number("waiters") > before; }));
    return connection;
  }
};

TEST_F(LimitsTest, connections_beyond_the_limit_are_told_to_come_later) {
  options.limits.max_connections = 3;
  start();
  std::vector<std::unique_ptr<HttpConnection>> few;
  for (int i = 0; i < 3; ++i) {
    few.push_back(std::make_unique<HttpConnection>(address));
    few.back()->send("GET /v1/locks HTTP/1.1\r\n" + host() + "\r\n");
    EXPECT_EQ(few.back()->receive().status, 200);
  }
  HttpConnection one_more(address);
  const auto answer = one_more.receive();
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.code(), "too_many_connections");
  EXPECT_EQ(answer.headers.at("retry-after"), "1");
  EXPECT_TRUE(one_more.is_closed_within(1s));
  few.clear();
  EXPECT_TRUE(test::eventually([&] { return get("/v1/locks").status == 200; }));
}

// Only loopback can be reached from a test, and that is exempt.
TEST_F(LimitsTest, one_address_has_so_many_connections_and_no_more) {
  net::http::Admission admission(10, 2);
  const net::http::Peer there{.address = "192.0.2.1"};
  const net::http::Peer elsewhere{.address = "192.0.2.2"};
  const net::http::Peer here{.address = "127.0.0.1", .is_loopback = true};
  EXPECT_TRUE(admission.enter(there));
  EXPECT_TRUE(admission.enter(there));
  EXPECT_FALSE(admission.enter(there));
  EXPECT_TRUE(admission.enter(elsewhere));
  for (int i = 0; i < 7; ++i) EXPECT_TRUE(admission.enter(here));
  EXPECT_FALSE(admission.enter(here)) << "in total";
  admission.leave(there);
  EXPECT_TRUE(admission.enter(there));
  admission.leave(here);
  EXPECT_FALSE(admission.enter(there)) << "a refused one must not have been counted";
}

TEST_F(LimitsTest, waiters_for_one_name_and_in_total) {
  options.limits.max_waiters_per_name = 2;
  options.limits.max_waiters = 3;
  start();
  for (const auto* name : {"a", "b", "c"}) {
    ASSERT_EQ(post(fmt::format("/v1/locks/{}/acquire", name)).status, 200);
  }
  const auto first = wait_for("a");
  auto second = wait_for("a");
  const auto too_many_here = post("/v1/locks/a/acquire", R"({"wait":"1s"})");
  EXPECT_EQ(too_many_here.status, 429);
  EXPECT_EQ(too_many_here.code(), "limit_reached");
  EXPECT_NE(too_many_here.body.find("max_waiters_per_name"), std::string::npos);
  const auto third = wait_for("b");
  const auto too_many = post("/v1/locks/c/acquire", R"({"wait":"1s"})");
  EXPECT_EQ(too_many.status, 429);
  EXPECT_EQ(too_many.code(), "limit_reached");
  EXPECT_NE(too_many.body.find("max_waiters:"), std::string::npos);
  second.reset();
  EXPECT_TRUE(test::eventually([&] { return get("/v1/stats").number("waiters") == 2; }));
  EXPECT_EQ(post("/v1/locks/c/acquire", R"({"wait":"1ms"})").code(), "timed_out");
}

TEST_F(LimitsTest, a_refused_wait_for_a_name_nobody_waits_for_leaves_nothing_behind) {
  options.limits.max_waiters_per_name = 1;
  start();
  ASSERT_EQ(post("/v1/locks/a/acquire").status, 200);
  const auto first = wait_for("a");
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(post("/v1/locks/a/acquire", R"({"wait":"1s"})").status, 429);
  }
  EXPECT_EQ(get("/v1/stats").number("waiters"), 1);
}

TEST_F(LimitsTest, a_token_that_asks_too_often_is_told_when_to_come_back) {
  const test::TemporaryFolder folder;
  options.token_file = (folder.path() / "tokens").string();
  std::ofstream(options.token_file) << "bot " << to_hex(hash_of("secret")) << " lock *\n";
  ASSERT_EQ(chmod(options.token_file.c_str(), 0600), 0);
  options.limits.token_requests_per_s = 5;
  start();
  int allowed = 0;
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 50; ++i) {
    const auto answer =
        call({.path = "/v1/locks", .headers = {{"Authorization", "Bearer secret"}}});
    if (answer.status == 200) {
      ++allowed;
      continue;
    }
    EXPECT_EQ(answer.status, 429);
    EXPECT_EQ(answer.code(), "rate_limited");
    EXPECT_GE(std::stoi(answer.headers.at("retry-after")), 1);
  }
  const auto took = std::chrono::steady_clock::now() - began;
  EXPECT_LE(allowed, 20 + 5 * (took / 1s));
}

TEST_F(LimitsTest, headers_and_bodies) {
  options.limits.max_body_bytes = 1024;
  options.limits.max_header_bytes = 1024;
  options.limits.max_headers = 8;
  start();
  const auto long_body = R"({"metadata":{"note":")" + std::string(1'100, 'x') + "\"}}";
  EXPECT_EQ(post("/v1/locks/a/acquire", long_body).code(), "body_too_long");
  EXPECT_EQ(call({.path = "/v1/locks", .headers = {{"X", std::string(1'100, 'x')}}}).code(),
            "headers_too_long");
  HttpCall many{.path = "/v1/locks"};
  for (int i = 0; i < 7; ++i) many.headers[fmt::format("X-{}", i)] = "y";
  EXPECT_EQ(call(many).status, 200);
  many.headers["X-7"] = "y";
  EXPECT_EQ(call(many).code(), "too_many_headers");
}

TEST_F(LimitsTest, sessions_and_their_leases) {
  options.limits.max_sessions = 1;
  options.limits.max_session_leases = 1;
  start();
  const auto in_a_session = [&] {
    return R"({"session":")" + post("/v1/sessions").text("session") + R"("})";
  };
  const auto first = in_a_session();
  EXPECT_EQ(post("/v1/locks/a/acquire", first).status, 200);
  EXPECT_NE(post("/v1/locks/b/acquire", first).text("detail").find("max_session_leases"),
            std::string::npos);
  const auto second = post("/v1/locks/b/acquire", in_a_session());
  EXPECT_EQ(second.status, 429);
  EXPECT_EQ(second.code(), "limit_reached");
  EXPECT_NE(second.text("detail").find("max_sessions"), std::string::npos) << second.body;
  EXPECT_EQ(get("/v1/locks/b").status, 404);
}

TEST_F(LimitsTest, event_streams) {
  options.limits.max_event_streams = 1;
  start();
  HttpConnection first(address);
  first.send("GET /v1/events HTTP/1.1\r\n" + host() + "\r\n");
  ASSERT_TRUE(test::eventually([&] { return get("/v1/stats").number("event_streams") == 1; }));
  const auto second = get("/v1/events");
  EXPECT_EQ(second.status, 429);
  EXPECT_EQ(second.code(), "limit_reached");
}

// The real program: this process must keep its descriptors.
TEST_F(LimitsTest, without_descriptors_it_waits_without_spinning_and_serves_again) {
  ServedProgram served({"--store", "memory:"}, {"/usr/bin/prlimit", "--nofile=64:64"});
  auto& program = served.program();
  const auto& where = served.address();
  ASSERT_FALSE(where.empty()) << program.err();
  std::vector<std::unique_ptr<HttpConnection>> many;
  for (int i = 0; i < 120; ++i) many.push_back(std::make_unique<HttpConnection>(where));
  ASSERT_TRUE(program.complains("no descriptors"));
  const auto before = program.cpu_time();
  std::this_thread::sleep_for(1s);  // what it costs is measured
  EXPECT_LT(program.cpu_time() - before, 200ms);
  many.clear();
  EXPECT_TRUE(
      test::eventually([&] { return call_at(where, {.path = "/v1/locks"}).status == 200; }));
  const auto complaints = [&] {
    std::size_t count = 0;
    const auto& text = program.err();
    for (auto found = text.find("no descriptors"); found != std::string::npos;
         found = text.find("no descriptors", found + 1)) {
      ++count;
    }
    return count;
  };
  EXPECT_LE(complaints(), 3U) << program.err();
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait(), 0);
}

}  // namespace
}  // namespace holdfast::server
