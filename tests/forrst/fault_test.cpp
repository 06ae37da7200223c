// SPDX-License-Identifier: Apache-2.0
#include <holdfast/forrst/fault.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace holdfast::forrst {
namespace {

struct Row {
  std::string_view code;
  bool is_retryable;
  int http_status;
};

TEST(Fault, every_code_has_the_status_that_the_protocol_gives_it) {
  const Row wanted[] = {
      {"PARSE_ERROR", false, 400},
      {"INVALID_REQUEST", false, 400},
      {"INVALID_PROTOCOL_VERSION", false, 400},
      {"FUNCTION_NOT_FOUND", false, 404},
      {"VERSION_NOT_FOUND", false, 404},
      {"FUNCTION_DISABLED", true, 503},
      {"INVALID_ARGUMENTS", false, 400},
      {"SCHEMA_VALIDATION_FAILED", false, 422},
      {"EXTENSION_NOT_SUPPORTED", false, 400},
      {"EXTENSION_NOT_APPLICABLE", false, 400},
      {"UNAUTHORIZED", false, 401},
      {"FORBIDDEN", false, 403},
      {"NOT_FOUND", false, 404},
      {"CONFLICT", false, 409},
      {"GONE", false, 410},
      {"DEADLINE_EXCEEDED", true, 504},
      {"RATE_LIMITED", true, 429},
      {"INTERNAL_ERROR", true, 500},
      {"UNAVAILABLE", true, 503},
      {"DEPENDENCY_ERROR", true, 502},
      {"IDEMPOTENCY_CONFLICT", false, 409},
      {"IDEMPOTENCY_PROCESSING", true, 409},
      {"ASYNC_OPERATION_NOT_FOUND", false, 404},
      {"ASYNC_OPERATION_FAILED", false, 500},
      {"ASYNC_CANNOT_CANCEL", false, 400},
      {"SERVER_MAINTENANCE", true, 503},
      {"FUNCTION_MAINTENANCE", true, 503},
      {"REPLAY_NOT_FOUND", false, 404},
      {"REPLAY_EXPIRED", false, 410},
      {"REPLAY_ALREADY_COMPLETE", false, 409},
      {"REPLAY_CANCELLED", false, 410},
      {"CANCELLED", false, 499},
      {"CANCELLATION_TOKEN_UNKNOWN", false, 404},
      {"CANCELLATION_TOO_LATE", false, 409},
      {"LOCK_ACQUISITION_FAILED", true, 423},
      {"LOCK_TIMEOUT", true, 423},
      {"LOCK_NOT_FOUND", false, 404},
      {"LOCK_OWNERSHIP_MISMATCH", false, 403},
      {"LOCK_ALREADY_RELEASED", false, 409},
      {"SIMULATION_NOT_SUPPORTED", false, 400},
      {"SIMULATION_SCENARIO_NOT_FOUND", false, 404},
      {"BATCH_FAILED", false, 400},
      {"BATCH_TOO_LARGE", false, 400},
      {"BATCH_TIMEOUT", true, 504},
      {"QUOTA_EXCEEDED", false, 400},
  };
  for (const auto& [code, is_retryable, http_status] : wanted) {
    const auto row = row_of(code);
    EXPECT_EQ(row.code, code);
    EXPECT_EQ(row.is_retryable, is_retryable) << code;
    EXPECT_EQ(row.http_status, http_status) << code;
    EXPECT_NE(row.category, "custom") << code;
  }
  EXPECT_EQ(known_codes().size(), std::size(wanted));
}

TEST(Fault, every_code_is_in_the_table_once_under_a_category_of_the_protocol) {
  const std::set<std::string_view> categories{
      "protocol",      "function", "extension", "authentication", "resource",
      "rate_limiting", "server",   "async",     "cancellation",   "idempotency",
      "replay",        "locking",  "simulation"};
  std::set<std::string_view> codes;
  std::set<std::string_view> used;
  for (const auto& row : known_codes()) {
    EXPECT_TRUE(codes.insert(row.code).second) << row.code;
    EXPECT_TRUE(categories.contains(row.category)) << row.code;
    used.insert(row.category);
  }
  EXPECT_EQ(used, categories);
  EXPECT_EQ(row_of("LOCK_TIMEOUT").category, "locking");
  EXPECT_EQ(row_of("PARSE_ERROR").category, "protocol");
}

TEST(Fault, a_code_of_ones_own_is_a_bad_request_that_is_not_tried_again) {
  for (const auto* code : {"INSUFFICIENT_FUNDS", "", "lock_timeout"}) {
    const auto row = row_of(code);
    EXPECT_EQ(row.code, code);
    EXPECT_FALSE(row.is_retryable);
    EXPECT_EQ(row.http_status, 400);
    EXPECT_EQ(row.category, "custom");
  }
}

}  // namespace
}  // namespace holdfast::forrst
