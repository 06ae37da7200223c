// SPDX-License-Identifier: Apache-2.0
#include "runtime/log.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::runtime {
namespace {

std::string& heard() {
  static std::string text;
  return text;
}

void hear(std::string_view message) { heard() = message; }

TEST(Log, warnings_go_where_a_program_wants_them_until_it_wants_them_no_more) {
  send_warnings_to(hear);
  log_warning("first");
  EXPECT_EQ(heard(), "first");
  send_warnings_to(nullptr);
  testing::internal::CaptureStderr();
  log_warning("second");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("second"), std::string::npos);
  EXPECT_EQ(heard(), "first");
}

TEST(Log, a_sink_that_throws_harms_nobody) {
  send_warnings_to([](std::string_view) { throw 1; });
  log_warning("lost");
  send_warnings_to(nullptr);
}

}  // namespace
}  // namespace holdfast::runtime
