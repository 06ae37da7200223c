// SPDX-License-Identifier: Apache-2.0
#include "text/fence.hpp"

#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace holdfast::text {
namespace {

namespace json = boost::json;

TEST(Fence, is_a_positive_integer_below_two_to_the_power_of_63) {
  EXPECT_EQ(parse_fence("1"), 1U);
  EXPECT_EQ(parse_fence("1763000000000007"), 1'763'000'000'000'007U);
  EXPECT_EQ(parse_fence("9223372036854775807"), max_fence);
  for (const auto* bad : {"", "0", "-1", "+1", " 1", "1 ", "1.0", "1e3", "0x1",
                          "9223372036854775808", "99999999999999999999"}) {
    EXPECT_FALSE(parse_fence(bad)) << bad;
  }
}

TEST(Fence, is_a_number_in_json_and_no_text) {
  EXPECT_EQ(fence_in(json::value(1)), 1U);
  EXPECT_EQ(fence_in(json::value(INT64_MAX)), max_fence);
  EXPECT_EQ(fence_in(json::value(std::uint64_t{7})), 7U);
  for (const json::value& bad :
       {json::value(0), json::value(-1), json::value(1.0), json::value("1"), json::value(true),
        json::value(nullptr), json::value(UINT64_MAX)}) {
    EXPECT_FALSE(fence_in(bad)) << json::serialize(bad);
  }
}

TEST(Fence, the_rule_names_both_ends) {
  EXPECT_NE(fence_rule.find(" 1 "), std::string_view::npos);
  EXPECT_NE(fence_rule.find(std::to_string(max_fence)), std::string_view::npos);
}

}  // namespace
}  // namespace holdfast::text
