// SPDX-License-Identifier: Apache-2.0
//
// Which requests are passed on, and which are not.
#include "guard_fixture.hpp"

namespace holdfast::guard {
namespace {

using Refuse = GuardTest;

TEST_F(Refuse, the_newest_fence_and_newer_ones_are_passed_on_and_older_ones_are_not) {
  start();
  EXPECT_EQ(post("/orders/42", "7").status, 200);
  EXPECT_EQ(post("/orders/42", "7").status, 200) << "its holder writes twice";
  EXPECT_EQ(post("/orders/42", "8").status, 200);
  const auto late = post("/orders/42", "7");
  EXPECT_EQ(late.status, 412);
  EXPECT_EQ(late.header("content-type"), "application/problem+json");
  EXPECT_EQ(late.code(), "stale_fence");
  EXPECT_EQ(late.text("resource"), "/orders/42");
  EXPECT_EQ(late.number("fence"), 7);
  EXPECT_EQ(late.number("newest"), 8);
  EXPECT_EQ(post("/orders/43", "7").status, 200) << "another resource";
  EXPECT_EQ(upstream->count(), 4U);
}

TEST_F(Refuse, a_fence_may_be_as_large_as_a_signed_64_bit_number) {
  start();
  EXPECT_EQ(post("/a", "9223372036854775807").status, 200);
  const auto late = post("/a", "9223372036854775806");
  EXPECT_EQ(late.status, 412);
  EXPECT_EQ(late.number("newest"), INT64_MAX);
}

TEST_F(Refuse, a_request_that_changes_something_needs_a_fence) {
  start();
  for (const auto* method : {"POST", "PUT", "PATCH", "DELETE", "PROPFIND", "BREW"}) {
    const auto answer = call({.method = method, .path = "/a"});
    EXPECT_EQ(answer.status, 428) << method;
    EXPECT_EQ(answer.code(), "fence_required");
    EXPECT_TRUE(answer.text("detail").contains("Holdfast-Fence: must be given")) << answer.body;
  }
  EXPECT_EQ(upstream->count(), 0U);
  for (const auto* method : {"GET", "OPTIONS"}) {
    EXPECT_EQ(call({.method = method, .path = "/a"}).status, 200) << method;
  }
}

TEST_F(Refuse, a_read_with_a_fence_is_checked_too) {
  start();
  post("/a", "8");
  EXPECT_EQ(call({.path = "/a", .headers = {{"Holdfast-Fence", "7"}}}).status, 412);
  EXPECT_EQ(call({.path = "/a", .headers = {{"Holdfast-Fence", "9"}}}).status, 200);
  EXPECT_EQ(post("/a", "8").status, 412);
}

TEST_F(Refuse, with_missing_pass_a_request_needs_no_fence_but_an_old_one_is_refused) {
  options.missing = Missing::pass;
  start();
  EXPECT_EQ(call({.method = "DELETE", .path = "/a"}).status, 200);
  EXPECT_EQ(post("/a", "8").status, 200);
  EXPECT_EQ(post("/a", "7").status, 412);
}

TEST_F(Refuse, a_fence_that_is_none_is_an_error_and_passes_nothing_on) {
  options.missing = Missing::pass;
  start();
  for (const auto* fence : {"", " ", "x", "-1", "+1", "0", "00", "1.0", "1e3", "0x10", "1 2", "1,2",
                            "9223372036854775808", "18446744073709551616",
                            "99999999999999999999999999999999", "\xd9\xa1", "7\x0b"}) {
    const auto answer = post("/a", fence);
    EXPECT_EQ(answer.status, 400) << fence;
    if (std::string_view(fence) != "7\x0b") {
      EXPECT_TRUE(
          answer.text("detail").starts_with("Holdfast-Fence: must be a whole number from 1"))
          << fence << answer.body;
    }
  }
  const auto twice =
      raw("GET /a HTTP/1.1\r\nHost: a\r\nHoldfast-Fence: 7\r\nholdfast-fence: 7\r\n\r\n");
  EXPECT_EQ(twice.status, 400);
  EXPECT_TRUE(twice.text("detail").starts_with("Holdfast-Fence: must be given once")) << twice.body;
  EXPECT_EQ(upstream->count(), 0U);
  EXPECT_EQ(post("/a", "1").status, 200) << "nothing was remembered";
}

TEST_F(Refuse, leading_zeros_are_the_same_number) {
  start();
  EXPECT_EQ(post("/a", "0008").status, 200);
  EXPECT_EQ(post("/a", "7").status, 412);
}

TEST_F(Refuse, a_resource_that_has_no_name_is_an_error) {
  start();
  EXPECT_EQ(post("/a/../b", "7").status, 400);
  const auto longest = "/" + std::string(max_name_bytes - 1, 'a');
  EXPECT_EQ(post(longest, "7").status, 200);
  const auto answer = post(longest + "a", "7");
  EXPECT_EQ(answer.status, 400);
  EXPECT_TRUE(answer.text("detail").contains("resource must be at most 512 bytes")) << answer.body;
  EXPECT_EQ(upstream->count(), 1U);
  EXPECT_EQ(call({.path = longest + "a/../b"}).status, 200) << "without a fence nobody asks";
}

TEST_F(Refuse, the_resource_may_come_from_a_header) {
  options.resource = parse_resource_rule("header:X-Order").value();
  start();
  const auto with = [&](std::string path, std::string order, std::string fence) {
    return call({.method = "PUT",
                 .path = std::move(path),
                 .headers = {{"X-Order", std::move(order)}, {"Holdfast-Fence", std::move(fence)}}})
        .status;
  };
  EXPECT_EQ(with("/a", "42", "8"), 200);
  EXPECT_EQ(with("/b", "42", "7"), 412);
  EXPECT_EQ(with("/b", "43", "7"), 200);
  EXPECT_EQ(post("/a", "9").status, 400);
}

TEST_F(Refuse, tunnels_and_other_protocols_do_not_go_through) {
  start();
  EXPECT_EQ(raw("CONNECT shop:443 HTTP/1.1\r\nHost: shop:443\r\n\r\n").status, 501);
  EXPECT_EQ(raw("GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
                .status,
            501);
  EXPECT_EQ(upstream->count(), 0U);
  EXPECT_EQ(raw("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: "
                "h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n")
                .status,
            200)
      << "an offer that may be passed over";
  EXPECT_EQ(upstream->seen().front().header("Upgrade"), "(none)");
}

}  // namespace
}  // namespace holdfast::guard
