// SPDX-License-Identifier: Apache-2.0
#include "cli/look/display.hpp"

#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

TEST(Display, nothing_that_a_terminal_would_act_on_is_left_in_a_cleaned_text) {
  EXPECT_EQ(cleaned("plain text"), "plain text");
  EXPECT_EQ(cleaned("\x1b[2Jgone"), "\\x1b[2Jgone");
  EXPECT_EQ(cleaned("a\r\nb\tc"), "a\\x0d\\x0ab\\x09c");
  EXPECT_EQ(cleaned(std::string_view("\0\x7f", 2)), "\\x00\\x7f");
  // An 8-bit terminal takes U+009B for the beginning of a sequence.
  EXPECT_EQ(cleaned("\xc2\x9b"
                    "31m"),
            "\\u{9b}31m");
  EXPECT_EQ(cleaned("\xe2\x80\xae"
                    "evil"),
            "\\u{202e}evil");
  EXPECT_EQ(cleaned("\xe2\x80\xa8"), "\\u{2028}");
}

TEST(Display, what_is_not_utf8_is_spelt_out_byte_by_byte) {
  EXPECT_EQ(cleaned("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(cleaned("ab\xe2\x82"), "ab\\xe2\\x82");
}

TEST(Display, letters_of_every_script_stay_as_they_are) {
  EXPECT_EQ(cleaned("Grüße, 世界, кот"), "Grüße, 世界, кот");
}

TEST(Display, a_width_counts_columns_and_not_bytes) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("Grüße"), 5U);
  EXPECT_EQ(display_width("世界"), 4U);
  EXPECT_EQ(display_width("🔒"), 2U);
  EXPECT_EQ(display_width("e\xcc\x81"), 1U);
  EXPECT_EQ(display_width(""), 0U);
}

TEST(Display, a_cut_text_never_takes_more_columns_and_never_half_a_character) {
  EXPECT_EQ(cut("abcdef", 6), "abcdef");
  EXPECT_EQ(cut("abcdef", 4), "abc…");
  EXPECT_EQ(cut("世界平和", 4), "世…");
  EXPECT_EQ(cut("世界", 1), "…");
  EXPECT_EQ(cut("abc", 0), "");
  EXPECT_EQ(display_width(padded("世界平和", 4)), 4U);
  EXPECT_EQ(padded("ab", 4), "ab  ");
  EXPECT_EQ(right_aligned("ab", 4), "  ab");
}

TEST(Display, a_duration_is_said_in_two_units_at_most) {
  EXPECT_EQ(readable(0us), "0s");
  EXPECT_EQ(readable(-5s), "0s");
  EXPECT_EQ(readable(999us), "0s");
  EXPECT_EQ(readable(250ms), "250ms");
  EXPECT_EQ(readable(9799ms), "9.7s");
  EXPECT_EQ(readable(59999ms), "59s");
  EXPECT_EQ(readable(125s), "2m 5s");
  EXPECT_EQ(readable(3h + 2min + 59s), "3h 2m");
  EXPECT_EQ(readable(52h), "2d 4h");
}

}  // namespace
}  // namespace holdfast::cli
