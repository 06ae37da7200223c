// SPDX-License-Identifier: Apache-2.0
#include "forrst/version.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace holdfast::forrst {
namespace {

Version version(std::string_view text) {
  const auto parsed = Version::parse(text);
  EXPECT_TRUE(parsed) << text;
  return parsed ? *parsed : *Version::parse("0.0.0");
}

TEST(Version, is_three_numbers_and_what_may_follow_them) {
  for (const auto* text :
       {"0.0.0", "1.2.3", "10.20.30", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-0.3.7",
        "1.0.0-x-y-z.--", "1.0.0-0a", "1.0.0+20130313144700", "1.0.0-beta+exp.sha.5", "1.0.0+001",
        "1.0.0+a-b", "18446744073709551615.0.0", "1.0.0-99999999999999999999999"}) {
    EXPECT_EQ(version(text).str(), text);
  }
  EXPECT_EQ(version("12.3.4-rc.1").major(), 12U);
}

TEST(Version, is_nothing_else) {
  for (const auto* text : {"",
                           "1",
                           "1.2",
                           "1.2.3.4",
                           "v1.2.3",
                           "1.2.x",
                           "01.2.3",
                           "1.02.3",
                           "1.2.03",
                           "-1.2.3",
                           "+1.2.3",
                           "1..3",
                           "1.2.",
                           ".2.3",
                           " 1.2.3",
                           "1.2.3 ",
                           "1.2.3-",
                           "1.2.3+",
                           "1.2.3-a..b",
                           "1.2.3-.a",
                           "1.2.3-a.",
                           "1.2.3-01",
                           "1.2.3-a_b",
                           "1.2.3+a+b",
                           "1.2.3+a..b",
                           "1.2.3-é",
                           "stable",
                           "1.2.3\n",
                           "18446744073709551616.0.0"}) {
    EXPECT_FALSE(Version::parse(text)) << text;
  }
  EXPECT_FALSE(Version::parse(std::string_view("1.2.3\0", 6)));
}

TEST(Version, has_a_limit) {
  const auto longest = "1.0.0-" + std::string(max_version_bytes - 6, 'a');
  EXPECT_TRUE(Version::parse(longest));
  EXPECT_FALSE(Version::parse(longest + "a"));
}

TEST(Version, is_compared_as_semantic_versioning_says) {
  const std::vector<std::string> ordered{"0.9.9",
                                         "1.0.0-1",
                                         "1.0.0-9",
                                         "1.0.0-10",
                                         "1.0.0-99999999999999999999999",
                                         "1.0.0-alpha",
                                         "1.0.0-alpha.1",
                                         "1.0.0-alpha.beta",
                                         "1.0.0-beta",
                                         "1.0.0-beta.2",
                                         "1.0.0-beta.11",
                                         "1.0.0-rc.1",
                                         "1.0.0",
                                         "1.0.1",
                                         "1.2.0",
                                         "1.10.0",
                                         "2.0.0-a",
                                         "2.0.0",
                                         "10.0.0"};
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    for (std::size_t j = 0; j < ordered.size(); ++j) {
      EXPECT_EQ(version(ordered[i]) <=> version(ordered[j]), i <=> j)
          << ordered[i] << ' ' << ordered[j];
      EXPECT_EQ(version(ordered[i]) == version(ordered[j]), i == j)
          << ordered[i] << ' ' << ordered[j];
    }
  }
}

TEST(Version, a_build_does_not_count_in_a_comparison) {
  EXPECT_EQ(version("1.0.0+a"), version("1.0.0+b"));
  EXPECT_EQ(version("1.0.0-rc.1+a"), version("1.0.0-rc.1"));
}

TEST(Version, is_as_stable_as_its_first_word_says) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"1.0.0", "stable"},        {"0.1.0", "stable"},         {"1.0.0+rc", "stable"},
      {"1.0.0-alpha", "alpha"},   {"1.0.0-alpha2.1", "alpha"}, {"1.0.0-beta.1", "beta"},
      {"1.0.0-beta3", "beta"},    {"1.0.0-rc1", "rc"},         {"1.0.0-rc.2+x", "rc"},
      {"1.0.0-nightly", "alpha"}, {"1.0.0-1.rc", "alpha"},
  };
  for (const auto& [text, stability] : cases) {
    EXPECT_EQ(to_string(version(text).stability()), stability) << text;
  }
}

}  // namespace
}  // namespace holdfast::forrst
