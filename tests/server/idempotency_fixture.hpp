// SPDX-License-Identifier: Apache-2.0
//
// Calls of /v1/idempotency, for the tests of it.
#pragma once

#include "server_fixture.hpp"

#include <string>

namespace holdfast::server {

class IdempotencyTest : public ServerTest {
 protected:
  HttpAnswer say(const std::string& verb, const std::string& body = "{}",
                 const std::string& key = "pay-7") {
    return post("/v1/idempotency/" + key + "/" + verb, body);
  }
  HttpAnswer begin(const std::string& body = "{}", const std::string& key = "pay-7") {
    return say("begin", body, key);
  }
  std::string begun(const std::string& body = "{}", const std::string& key = "pay-7") {
    const auto answer = begin(body, key);
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.text("state"), "fresh");
    return answer.text("owner");
  }
  static std::string with_owner(const std::string& owner, const std::string& more = {}) {
    return R"({"owner":")" + owner + '"' + (more.empty() ? "" : ",") + more + "}";
  }
  // The status, of a body whose length is not told before.
  int in_one_chunk(const std::string& verb, const std::string& body) {
    HttpConnection connection(address);
    connection.send(fmt::format(
        "POST /v1/idempotency/pay-7/{} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n"
        "Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{}\r\n0\r\n\r\n",
        verb, address, body.size(), body));
    return connection.receive().status;
  }
  HttpAnswer look(const std::string& key = "pay-7") { return get("/v1/idempotency/" + key); }
  HttpAnswer forget(const std::string& body, const std::string& key = "pay-7") {
    return call({.method = "DELETE", .path = "/v1/idempotency/" + key, .body = body});
  }
};

}  // namespace holdfast::server
