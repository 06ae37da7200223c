// SPDX-License-Identifier: Apache-2.0
//
// The examples of the protocol's page on atomic locks, request and answer. What an answer has
// beyond them is `meta`, and the fence.
#include "forrst/service_fixture.hpp"

#include <regex>
#include <thread>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view auto_release_request = R"({
  "protocol": { "name": "forrst", "version": "0.1.0" },
  "id": "req_001",
  "call": {
    "function": "payments.charge",
    "version": "1.0.0",
    "arguments": { "user_id": "user_123", "amount": 100 }
  },
  "extensions": [
    {
      "urn": "urn:forrst:ext:atomicLock",
      "options": { "key": "user:123", "ttl": { "value": 30, "unit": "second" } }
    }
  ]
})";

constexpr std::string_view blocking_request = R"({
  "protocol": { "name": "forrst", "version": "0.1.0" },
  "id": "req_002",
  "call": {
    "function": "billing.generateReport",
    "version": "1.0.0",
    "arguments": { "month": "2024-03" }
  },
  "extensions": [
    {
      "urn": "urn:forrst:ext:atomicLock",
      "options": {
        "key": "billing:report",
        "ttl": { "value": 1, "unit": "hour" },
        "scope": "global",
        "block": { "value": 5, "unit": "second" },
        "auto_release": false
      }
    }
  ]
})";

constexpr std::string_view release_request = R"({
  "protocol": { "name": "forrst", "version": "0.1.0" },
  "id": "req_release",
  "call": {
    "function": "urn:cline:forrst:ext:atomic-lock:fn:release",
    "version": "1.0.0",
    "arguments": {
      "key": "lock:billing:report",
      "owner": "550e8400-e29b-41d4-a716-446655440000"
    }
  }
})";

// The answer without what is ours.
json::value plain(Told told) {
  told.body.erase("meta");
  if (auto* extensions = told.body.if_contains("extensions")) {
    for (auto& each : extensions->as_array()) each.at("data").as_object().erase("fence");
  }
  return told.body;
}

std::string with(std::string_view text, std::string_view old, std::string_view fresh) {
  std::string out(text);
  return out.replace(out.find(old), old.size(), fresh);
}

bool is_time(const json::value& value) {
  static const std::regex form("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z");
  return std::regex_match(std::string(value.as_string()), form);
}

bool is_uuid4(const json::value& value) {
  static const std::regex form(
      "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  return std::regex_match(std::string(value.as_string()), form);
}

class Golden : public ForrstService {};

TEST_F(Golden, a_request_with_a_lock_that_is_released_by_itself) {
  bool was_locked = false;
  charge = [&](const forrst::Invocation& call) -> forrst::Outcome {
    was_locked = is_locked("lock:payments.charge:user:123");
    EXPECT_EQ(call.lock->full_key, "lock:payments.charge:user:123");
    return json::object{{"charge_id", "ch_abc"}, {"status", "succeeded"}};
  };
  auto told = ask_text(auto_release_request);
  EXPECT_EQ(told.status, 200);
  EXPECT_TRUE(was_locked);
  EXPECT_FALSE(is_locked("lock:payments.charge:user:123"));
  const auto* data = told.data("urn:forrst:ext:atomicLock");
  ASSERT_NE(data, nullptr);
  EXPECT_TRUE(is_uuid4(data->at("owner")));
  EXPECT_TRUE(is_time(data->at("expires_at")));
  EXPECT_GT(data->at("fence").to_number<std::uint64_t>(), 0U);
  auto expected = json::parse(R"({
    "protocol": { "name": "forrst", "version": "0.1.0" },
    "id": "req_001",
    "result": { "charge_id": "ch_abc", "status": "succeeded" },
    "extensions": [
      {
        "urn": "urn:forrst:ext:atomicLock",
        "data": {
          "key": "user:123",
          "acquired": true,
          "owner": "",
          "scope": "function",
          "expires_at": ""
        }
      }
    ]
  })");
  auto& wanted = expected.at("extensions").at(0).at("data").as_object();
  wanted["owner"] = data->at("owner");
  wanted["expires_at"] = data->at("expires_at");
  EXPECT_EQ(plain(told), expected);
}

TEST_F(Golden, a_request_that_waits_and_releases_by_hand) {
  const auto told = ask_text(blocking_request);
  EXPECT_EQ(told.status, 200);
  EXPECT_EQ(told.body.at("id"), "req_002");
  const auto* data = told.data("urn:forrst:ext:atomicLock");
  ASSERT_NE(data, nullptr);
  EXPECT_EQ(data->at("scope"), "global");
  EXPECT_TRUE(is_locked("lock:billing:report"));
  const auto owner = std::string(data->at("owner").as_string());
  auto released = ask_text(with(release_request, "550e8400-e29b-41d4-a716-446655440000", owner));
  EXPECT_EQ(released.status, 200);
  EXPECT_EQ(plain(released), json::parse(R"({
    "protocol": { "name": "forrst", "version": "0.1.0" },
    "id": "req_release",
    "result": { "released": true, "key": "lock:billing:report" }
  })"));
  EXPECT_FALSE(is_locked("lock:billing:report"));
}

TEST_F(Golden, a_lock_that_somebody_holds) {
  const Lease theirs = hold("lock:payments.charge:user:123");
  auto told = ask_text(with(auto_release_request, "req_001", "req_003"));
  EXPECT_EQ(told.status, 423);
  EXPECT_EQ(charges, 0);
  EXPECT_EQ(plain(told), json::parse(R"({
    "protocol": { "name": "forrst", "version": "0.1.0" },
    "id": "req_003",
    "result": null,
    "errors": [{
      "code": "LOCK_ACQUISITION_FAILED",
      "message": "Unable to acquire lock",
      "details": {
        "key": "user:123",
        "scope": "function",
        "full_key": "lock:payments.charge:user:123"
      }
    }],
    "extensions": [
      {
        "urn": "urn:forrst:ext:atomicLock",
        "data": { "key": "user:123", "acquired": false }
      }
    ]
  })"));
  EXPECT_TRUE(theirs.valid());
}

TEST_F(Golden, a_lock_that_was_waited_for_in_vain) {
  const Lease theirs = hold("lock:billing:report");
  const auto asked =
      with(with(blocking_request, "req_002", "req_004"), R"("value": 5)", R"("value": 1)");
  auto told = ask_text(asked);
  EXPECT_EQ(told.status, 423);
  EXPECT_EQ(plain(told), json::parse(R"({
    "protocol": { "name": "forrst", "version": "0.1.0" },
    "id": "req_004",
    "result": null,
    "errors": [{
      "code": "LOCK_TIMEOUT",
      "message": "Lock acquisition timed out after 1 seconds",
      "details": {
        "key": "billing:report",
        "scope": "global",
        "full_key": "lock:billing:report",
        "waited": { "value": 1, "unit": "second" }
      }
    }]
  })"));
}

TEST_F(Golden, a_release_by_somebody_else) {
  const Lease theirs = hold("lock:billing:report");
  auto told = ask_text(release_request);
  EXPECT_EQ(told.status, 403);
  EXPECT_EQ(plain(told), json::parse(R"({
    "protocol": { "name": "forrst", "version": "0.1.0" },
    "id": "req_release",
    "result": null,
    "errors": [{
      "code": "LOCK_OWNERSHIP_MISMATCH",
      "message": "Lock is owned by a different process",
      "details": { "key": "lock:billing:report" }
    }]
  })"));
}

TEST_F(Golden, a_release_by_force) {
  const Lease theirs = hold("lock:billing:report");
  const auto told = lock_call("force-release", {{"key", "lock:billing:report"}});
  EXPECT_EQ(told.body.at("result"), json::parse(R"({
    "released": true, "key": "lock:billing:report", "forced": true
  })"));
  EXPECT_FALSE(is_locked("lock:billing:report"));
}

TEST_F(Golden, the_status_of_a_lock) {
  Question question{.function = "payments.charge"};
  question.locked({{"key", "user:123"},
                   {"ttl", span(30, "minute")},
                   {"owner", "uuid-abc-123"},
                   {"auto_release", false}});
  ASSERT_TRUE(ask(question).is_good());
  const auto told = lock_call("status", {{"key", "lock:payments.charge:user:123"}});
  const auto& status = told.body.at("result").as_object();
  EXPECT_EQ(status.at("key"), "lock:payments.charge:user:123");
  EXPECT_EQ(status.at("locked"), true);
  EXPECT_EQ(status.at("owner"), "uuid-abc-123");
  EXPECT_TRUE(is_time(status.at("acquired_at")));
  EXPECT_TRUE(is_time(status.at("expires_at")));
  const auto left = status.at("ttl_remaining").as_int64();
  EXPECT_LE(left, 1800);
  EXPECT_GT(left, 1700);
}

TEST_F(Golden, the_status_of_a_lock_that_is_free) {
  const auto told = lock_call("status", {{"key", "lock:payments.charge:user:123"}});
  EXPECT_EQ(told.body.at("result"),
            json::parse(R"({"key": "lock:payments.charge:user:123", "locked": false})"));
}

}  // namespace
}  // namespace holdfast::test
