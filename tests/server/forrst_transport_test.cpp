// SPDX-License-Identifier: Apache-2.0
//
// Forrst over HTTP: what is around a call. Whatever goes wrong, the answer is one of Forrst.
#include "forrst_fixture.hpp"
#include "server/auth/secret.hpp"

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;

class ForrstTransport : public ForrstTest {
 protected:
  void need_tokens() {
    options.token_file = file("tokens");
    std::ofstream(options.token_file)
        << "reader " << to_hex(hash_of("reads")) << " read *\n"
        << "locker " << to_hex(hash_of("locks")) << " lock lock:mine:\n";
    ASSERT_EQ(chmod(options.token_file.c_str(), 0600), 0);
  }
  HttpAnswer invoke_as(const std::string& token, const std::string& body,
                       const std::string& path = "/forrst") {
    return call({.method = "POST",
                 .path = path,
                 .body = body,
                 .headers = {{"Authorization", "Bearer " + token}}});
  }
  static void expect_refusal(const HttpAnswer& answer, int status, std::string_view code) {
    EXPECT_EQ(answer.status, status) << answer.body;
    EXPECT_EQ(answer.header("content-type"), "application/json");
    EXPECT_EQ(first_code(answer.json()), code) << answer.body;
    const auto body = answer.json();
    ASSERT_TRUE(body.is_object());
    EXPECT_TRUE(body.at("id").is_null());
    EXPECT_TRUE(body.at("result").is_null());
    EXPECT_EQ(body.at("protocol").at("name").as_string(), "forrst");
  }
};

TEST_F(ForrstTransport, is_at_two_paths) {
  start();
  for (const auto* path : {"/forrst", "/rpc"}) {
    const auto answer = post(path, forrst_request(ping));
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.json().at("id").as_string(), "req_1");
    EXPECT_EQ(answer.json().at("result").at("status").as_string(), "healthy");
    EXPECT_EQ(answer.header("x-forrst-request-id"), "req_1");
    EXPECT_EQ(get(path).status, 405);
    EXPECT_EQ(get(path).header("allow"), "POST");
  }
}

TEST_F(ForrstTransport, what_is_no_request_is_answered_in_the_protocol) {
  start();
  expect_refusal(post("/forrst", "{"), 400, "PARSE_ERROR");
  expect_refusal(post("/forrst"), 400, "PARSE_ERROR");
  expect_refusal(post("/forrst", "[]"), 400, "INVALID_REQUEST");
}

TEST_F(ForrstTransport, another_content_type_is_415) {
  start();
  for (const auto* path : {"/forrst", "/rpc"}) {
    const auto answer = call({.method = "POST",
                              .path = path,
                              .body = forrst_request(ping),
                              .headers = {{"Content-Type", "text/plain"}}});
    expect_refusal(answer, 415, "INVALID_REQUEST");
    EXPECT_EQ(answer.json().at("errors").at(0).at("message").as_string(),
              "Content-Type must be application/json");
  }
}

TEST_F(ForrstTransport, a_body_may_have_a_mebibyte_and_no_more) {
  start();
  const auto of_size = [](std::size_t size) {
    auto body = forrst_request(ping);
    body.insert(body.size() - 1, size - body.size(), ' ');
    return body;
  };
  for (const auto* path : {"/forrst", "/rpc"}) {
    EXPECT_EQ(post(path, of_size(forrst::max_request_bytes)).status, 200);
    expect_refusal(post(path, of_size(forrst::max_request_bytes + 1)), 413, "INVALID_REQUEST");
  }
  // Others keep their own.
  EXPECT_EQ(post("/v1/locks/a/acquire", of_size(options.limits.max_body_bytes + 1)).code(),
            "body_too_long");
  EXPECT_EQ(post("/v1/idempotency/a/complete", of_size(max_complete_body_bytes + 1)).code(),
            "body_too_long");
}

TEST_F(ForrstTransport, chunks_that_grow_too_long_are_413_too) {
  start();
  HttpConnection client(address);
  client.send(
      fmt::format("POST /forrst HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n"
                  "Transfer-Encoding: chunked\r\n\r\n",
                  address));
  const auto chunk = "10000\r\n" + std::string(0x10000, ' ') + "\r\n";
  for (std::size_t sent = 0; sent <= forrst::max_request_bytes; sent += 0x10000) {
    if (!client.send(chunk)) break;
  }
  expect_refusal(client.receive(), 413, "INVALID_REQUEST");
}

TEST_F(ForrstTransport, a_body_that_does_not_come_is_408) {
  options.limits.body_timeout = 100ms;
  start();
  HttpConnection client(address);
  client.send(
      fmt::format("POST /rpc HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n"
                  "Content-Length: 100000\r\n\r\n{}",
                  address, std::string(5000, ' ')));
  expect_refusal(client.receive(), 408, "INVALID_REQUEST");
}

TEST_F(ForrstTransport, after_a_forrst_call_others_are_refused_in_their_own_way) {
  start();
  HttpConnection client(address);
  client.send(test::request_text(
      {.method = "POST", .path = "/forrst", .body = forrst_request(ping)}, address));
  EXPECT_EQ(client.receive().status, 200);
  client.send("nonsense\x01\r\n\r\n");
  EXPECT_EQ(client.receive().code(), "malformed_request");
}

TEST_F(ForrstTransport, without_a_token_it_is_unauthorized) {
  need_tokens();
  start();
  const auto answer = post("/forrst", forrst_request(ping));
  expect_refusal(answer, 401, "UNAUTHORIZED");
  EXPECT_EQ(answer.header("www-authenticate"), "Bearer");
  EXPECT_EQ(invoke_as("reads", forrst_request(ping)).status, 200);
}

TEST_F(ForrstTransport, from_another_site_it_is_forbidden) {
  start();
  expect_refusal(call({.method = "POST",
                       .path = "/forrst",
                       .body = forrst_request(ping),
                       .headers = {{"Origin", "https://evil.example"}}}),
                 403, "FORBIDDEN");
}

TEST_F(ForrstTransport, a_token_covers_the_names_of_locks_and_the_verbs) {
  need_tokens();
  offer_command("mine", {script("work", "echo 1")});
  offer_command("yours", {script("work2", "echo 2")});
  start();
  const auto call_of = [](std::string_view function) {
    return forrst_request(function, {}, lock_extension("a"));
  };
  EXPECT_EQ(invoke_as("locks", call_of("mine")).status, 200);
  EXPECT_EQ(first_code(invoke_as("locks", call_of("yours")).json()), "FORBIDDEN");
  EXPECT_EQ(first_code(invoke_as("reads", call_of("mine")).json()), "FORBIDDEN");
}

TEST_F(ForrstTransport, a_token_that_asks_too_often_is_rate_limited) {
  need_tokens();
  options.limits.token_requests_per_s = 1;
  start();
  HttpAnswer answer;
  for (int each = 0; each < 4 && answer.status != 429; ++each) {
    answer = invoke_as("reads", forrst_request(ping));
  }
  expect_refusal(answer, 429, "RATE_LIMITED");
  EXPECT_FALSE(answer.header("retry-after").empty());
}

TEST_F(ForrstTransport, a_limit_of_the_endpoint_is_rate_limited) {
  options.rate_limits.push_back(
      {.path = "/forrst", .rule = {.limit = 1, .window = 1h}, .per = EndpointLimit::Per::all});
  start();
  EXPECT_EQ(invoke(ping).status, 200);
  const auto answer = invoke(ping);
  expect_refusal(answer, 429, "RATE_LIMITED");
  EXPECT_FALSE(answer.header("retry-after").empty());
  EXPECT_EQ(answer.header("ratelimit-limit"), "1");
  EXPECT_EQ(post("/rpc", forrst_request(ping)).status, 200);
}

TEST_F(ForrstTransport, a_lock_that_stays_is_given_back_if_its_client_left) {
  offer_command("work.do",
                {script("work", fmt::format("echo $$ > {}; sleep 0.3; echo 1", file("pid")))});
  start();
  {
    HttpConnection client(address);
    client.send(test::request_text(
        {.method = "POST",
         .path = "/forrst",
         .body =
             forrst_request("work.do", {}, lock_extension("user:1", R"(,"auto_release":false)"))},
        address));
    ASSERT_FALSE(written("pid").empty());
  }
  EXPECT_TRUE(test::eventually([&] { return !is_locked("lock:work.do:user:1"); }));
}

TEST_F(ForrstTransport, a_waiter_that_leaves_gives_up_its_place) {
  offer_command("work.do", {script("work", "echo 1")});
  start();
  ASSERT_EQ(
      invoke("work.do", {}, lock_extension("a", R"(,"auto_release":false,"owner":"me")")).status,
      200);
  const auto has_waiters = [&] {
    const auto lock = get("/v1/locks/lock:work.do:a").json();
    return !lock.at("waiters").as_array().empty();
  };
  {
    HttpConnection client(address);
    client.send(test::request_text(
        {.method = "POST",
         .path = "/forrst",
         .body = forrst_request("work.do", {},
                                lock_extension("a", R"(,"block":{"value":1,"unit":"hour"})"))},
        address));
    ASSERT_TRUE(test::eventually(has_waiters));
  }
  EXPECT_TRUE(test::eventually([&] { return !has_waiters(); }));
}

// What /openapi.json promises, at both paths; the rest of it is in openapi_test.cpp.
TEST_F(ForrstTransport, every_status_of_the_document) {
  // Fails as its argument says.
  offer_command("work.fail", {script("fail",
                                     "sed 's/.*\"code\":\"\\([A-Z_]*\\)\".*/"
                                     "{\"code\":\"\\1\",\"message\":\"as told\"}/'; exit 3")});
  start();
  const std::string locked = lock_extension("k", R"(,"auto_release":false,"owner":"me")");
  for (const std::string path : {"/forrst", "/rpc"}) {
    const auto status = [&](std::string_view function, const boost::json::object& arguments = {},
                            std::string_view extensions = "[]") {
      return post(path, forrst_request(function, arguments, extensions)).status;
    };
    EXPECT_EQ(status(ping), 200);
    EXPECT_EQ(status("no.such"), 404);
    for (const auto& [code, expected] : std::map<std::string, int>{{"CONFLICT", 409},
                                                                   {"INTERNAL_ERROR", 500},
                                                                   {"DEPENDENCY_ERROR", 502},
                                                                   {"UNAVAILABLE", 503},
                                                                   {"DEADLINE_EXCEEDED", 504},
                                                                   {"GONE", 410},
                                                                   {"OUT_OF_STOCK", 400}}) {
      EXPECT_EQ(status("work.fail", {{"code", code}}), expected) << code;
    }
    const auto acquired = post("/v1/locks/lock:work.fail:k/acquire", R"({"owner":"somebody"})");
    EXPECT_EQ(acquired.status, 200) << acquired.body;
    EXPECT_EQ(status("work.fail", {{"code", "GONE"}}, locked), 423);
    EXPECT_EQ(post("/v1/locks/lock:work.fail:k/release", R"({"owner":"somebody"})").status, 200);
  }
}

}  // namespace
}  // namespace holdfast::server
