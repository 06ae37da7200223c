// SPDX-License-Identifier: Apache-2.0
#include "text/error_codes.hpp"

#include "support/document.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace holdfast::text {
namespace {

std::vector<std::string> rows_of_the_document() {
  std::vector<std::string> rows;
  std::istringstream page(test::read_document("errors.md"));
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| `")) rows.push_back(line);
  }
  return rows;
}

std::string_view name_of(std::errc condition) {
  switch (condition) {
    case std::errc::device_or_resource_busy: return "device_or_resource_busy";
    case std::errc::timed_out: return "timed_out";
    case std::errc::operation_canceled: return "operation_canceled";
    case std::errc::no_lock_available: return "no_lock_available";
    case std::errc::host_unreachable: return "host_unreachable";
    case std::errc::io_error: return "io_error";
    case std::errc::invalid_argument: return "invalid_argument";
    case std::errc::operation_not_permitted: return "operation_not_permitted";
    case std::errc::resource_deadlock_would_occur: return "resource_deadlock_would_occur";
    case std::errc::not_supported: return "not_supported";
    case std::errc::resource_unavailable_try_again: return "resource_unavailable_try_again";
    default: return "?";
  }
}

TEST(ErrorCodes, docs_errors_md_says_what_the_table_says) {
  const auto rows = rows_of_the_document();
  ASSERT_EQ(rows.size(), error_table().size());
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const auto& row = error_table()[at];
    const auto expected = fmt::format("| `{}` | {} | {} | `{}` | ", row.word, row.exit_code,
                                      row.http_status, name_of(row.condition));
    EXPECT_TRUE(rows[at].starts_with(expected)) << rows[at] << "\nshould begin with\n" << expected;
  }
}

TEST(ErrorCodes, a_word_and_its_code_lead_to_each_other) {
  for (const auto& row : error_table()) {
    EXPECT_EQ(to_string(row.code), row.word);
    EXPECT_EQ(parse_errc(row.word), row.code);
    EXPECT_EQ(exit_code(row.code), row.exit_code);
    EXPECT_EQ(http_status(row.code), row.http_status);
  }
}

TEST(ErrorCodes, each_is_an_error_code_that_equals_its_condition) {
  for (const auto& row : error_table()) {
    const std::error_code code = row.code;
    EXPECT_EQ(code, row.code);
    EXPECT_EQ(code, row.condition) << row.word;
    EXPECT_EQ(code.message(), row.word);
    EXPECT_STREQ(code.category().name(), "holdfast");
  }
  const std::error_code newer(200, error_category());
  EXPECT_EQ(newer.message(), "unknown");
  EXPECT_NE(newer, std::errc::invalid_argument);
}

TEST(ErrorCodes, an_unknown_word_has_no_code) {
  for (const auto* word : {"", "Busy", "busy ", "timed-out", "ok"}) EXPECT_FALSE(parse_errc(word));
}

TEST(ErrorCodes, every_exit_code_means_one_thing) {
  std::set<int> seen;
  for (const auto& row : error_table()) {
    EXPECT_TRUE(seen.insert(row.exit_code).second) << row.word;
    EXPECT_GE(row.exit_code, 64);
    EXPECT_LT(row.exit_code, 126) << "a shell uses 126 and above itself";
  }
}

}  // namespace
}  // namespace holdfast::text
