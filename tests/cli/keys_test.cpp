// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using What = Key::What;

TEST(Keys, arrows_and_pages_come_in_several_spellings) {
  KeyReader keys;
  EXPECT_THAT(keys.feed("\x1b[A\x1bOB"), ElementsAre(Key{What::up}, Key{What::down}));
  EXPECT_THAT(keys.feed("\x1b[5~\x1b[6~"), ElementsAre(Key{What::page_up}, Key{What::page_down}));
  EXPECT_THAT(keys.feed("\x1b[H\x1b[4~"), ElementsAre(Key{What::home}, Key{What::end}));
  EXPECT_FALSE(keys.is_undecided());
}

TEST(Keys, an_escape_counts_when_nothing_follows_it) {
  KeyReader keys;
  EXPECT_THAT(keys.feed("\x1b"), IsEmpty());
  EXPECT_TRUE(keys.is_undecided());
  EXPECT_THAT(keys.settle(), ElementsAre(Key{What::escape}));
  EXPECT_FALSE(keys.is_undecided());
}

TEST(Keys, a_sequence_may_come_in_pieces) {
  KeyReader keys;
  EXPECT_THAT(keys.feed("\x1b"), IsEmpty());
  EXPECT_THAT(keys.feed("["), IsEmpty());
  EXPECT_THAT(keys.feed("B"), ElementsAre(Key{What::down}));
}

TEST(Keys, letters_of_several_bytes_are_one_key) {
  KeyReader keys;
  EXPECT_THAT(keys.feed("a\xc3"), ElementsAre(Key{What::text, "a"}));
  EXPECT_THAT(keys.feed("\xbc"), ElementsAre(Key{What::text, "ü"}));
}

TEST(Keys, rubbish_is_dropped_and_does_not_stop_what_follows) {
  KeyReader keys;
  EXPECT_THAT(keys.feed("\xffq"), ElementsAre(Key{What::other}, Key{What::text, "q"}));
  EXPECT_THAT(keys.feed("\x1b[99;5uq"), ElementsAre(Key{What::other}, Key{What::text, "q"}));
  EXPECT_THAT(keys.feed("\r\x7f"), ElementsAre(Key{What::enter}, Key{What::backspace}));
}

TEST(Keys, a_sequence_without_an_end_is_given_up) {
  KeyReader keys;
  (void)keys.feed("\x1b[" + std::string(100, '1'));
  EXPECT_THAT(keys.feed("q").back(), (Key{What::text, "q"}));
}

}  // namespace
}  // namespace holdfast::cli
