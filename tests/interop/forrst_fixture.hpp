// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interop_fixture.hpp"
#include "php.hpp"

namespace holdfast::test {

// A lock that we share with PHP's Forrst server, and that server.
class ForrstTest : public InteropTest {
 protected:
  ForrstTest() : InteropTest(peer_named("forrst")), php(raw, key) {}

  std::string value() { return raw.text({"GET", key}); }
  // What is left of the three texts: the shortest and the longest.
  std::pair<milliseconds, milliseconds> ttls_of_texts() {
    std::vector<long long> left;
    for (const auto& each : php.text_keys()) left.push_back(raw.integer({"PTTL", each}));
    const auto [shortest, longest] = std::ranges::minmax(left);
    return {milliseconds(shortest), milliseconds(longest)};
  }
  void expect_no_texts() {
    EXPECT_EQ(raw.integer({"EXISTS", key + ":meta:owner", key + ":meta:acquired_at",
                           key + ":meta:expires_at"}),
              0);
  }
  // In whole seconds, as Redis has it.
  std::chrono::sys_seconds server_time() {
    const auto reply = raw.call({"TIME"});
    return std::chrono::sys_seconds(
        std::chrono::seconds(std::stoll(std::string(net::resp::text_of(*reply->element[0])))));
  }
  void say_acquired(const std::string& text) {
    raw.call({"SET", key + ":meta:acquired_at", php_serialized(text), "KEEPTTL"});
  }
  Micros held_for() {
    const auto seen = client.inspect("orders");
    if (!seen || seen->holders.size() != 1) return -1s;
    return seen->holders.front().held_for;
  }
  std::vector<std::string> listed() {
    std::vector<std::string> names;
    const auto page = client.list({});
    EXPECT_TRUE(is_ok(page));
    if (!page) return names;
    for (const auto& each : page->locks) names.push_back(each.name);
    return names;
  }

  const std::string key = "forrst_lock:orders";
  ForrstServer php;
};

inline constexpr auto some_uuid = "0f8fad5b-d9cb-469f-a165-70867728950e";

}  // namespace holdfast::test
