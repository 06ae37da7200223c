// SPDX-License-Identifier: Apache-2.0
#include <holdfast/names.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast {
namespace {

using namespace std::string_literals;

struct BadText {
  std::string text;
  std::string_view rule;  // part of the message
};

std::vector<BadText> bad_texts() {
  return {
      {"", "must not be empty"},
      {"a\0b"s, "U+0000"},
      {"a\nb", "U+000A"},
      {"12345678\x1f", "U+001F"},
      {"1234567\x7f", "U+007F"},
      {"1234567\x1f", "U+001F"},
      {"\xc2\x80", "U+0080"},
      {"\xc2\x9f", "U+009F"},
      {"x\xe2\x80\xa8", "U+2028"},
      {"x\xe2\x80\xa9", "U+2029"},
      {"\x80", "must be UTF-8; byte 0"},
      {"abc\xff", "must be UTF-8; byte 3"},
      {"\xc3", "must be UTF-8"},
      {"\xc3(", "must be UTF-8"},
      {"\xc0\xaf", "must be UTF-8"},
      {"\xe0\x80\xaf", "must be UTF-8"},
      {"\xf0\x80\x80\xaf", "must be UTF-8"},
      {"\xed\xa0\x80", "must be UTF-8"},
      {"\xed\xbf\xbf", "must be UTF-8"},
      {"\xf4\x90\x80\x80", "must be UTF-8"},
      {"\xf8\x88\x80\x80\x80", "must be UTF-8"},
      {"\xe2\x82", "must be UTF-8"},
  };
}

TEST(Names, a_bad_name_is_refused_with_the_field_and_the_rule) {
  for (const auto& bad : bad_texts()) {
    const auto name = LockName::make(bad.text);
    ASSERT_FALSE(name) << testing::PrintToString(bad.text);
    EXPECT_EQ(name.error().code, Errc::bad_input);
    EXPECT_TRUE(name.error().message.starts_with("name ")) << name.error().message;
    EXPECT_NE(name.error().message.find(bad.rule), std::string::npos) << name.error().message;
  }
}

TEST(Names, a_bad_owner_is_refused_with_the_field_and_the_rule) {
  for (const auto& bad : bad_texts()) {
    const auto owner = OwnerId::make(bad.text);
    ASSERT_FALSE(owner) << testing::PrintToString(bad.text);
    EXPECT_EQ(owner.error().code, Errc::bad_input);
    EXPECT_TRUE(owner.error().message.starts_with("owner ")) << owner.error().message;
    EXPECT_NE(owner.error().message.find(bad.rule), std::string::npos) << owner.error().message;
  }
}

TEST(Names, every_language_may_name_a_lock) {
  for (const std::string text :
       {"orders:42", "a", " ", "~", "straße", "注文", "заказ", "🔒", "\xc2\xa0", "\xf4\x8f\xbf\xbf",
        "12345678", "123456789", "{tag}:x"}) {
    const auto name = LockName::make(text);
    ASSERT_TRUE(name) << text;
    EXPECT_EQ(name->str(), text);
  }
}

TEST(Names, the_length_limits_are_in_bytes_and_inclusive) {
  EXPECT_TRUE(LockName::make(std::string(512, 'n')));
  EXPECT_TRUE(OwnerId::make(std::string(256, 'o')));
  const auto name = LockName::make(std::string(513, 'n'));
  ASSERT_FALSE(name);
  EXPECT_EQ(name.error().message, "name must be at most 512 bytes long; this one has 513");
  const auto owner = OwnerId::make(std::string(257, 'o'));
  ASSERT_FALSE(owner);
  EXPECT_EQ(owner.error().message, "owner must be at most 256 bytes long; this one has 257");
}

TEST(Names, owners_of_every_length_keep_their_text_and_are_compared_by_it) {
  for (std::size_t size = 1; size <= max_owner_bytes; ++size) {
    const auto owner = OwnerId::make(std::string(size, 'o'));
    ASSERT_TRUE(owner);
    EXPECT_EQ(owner->str(), std::string(size, 'o'));
    EXPECT_EQ(*owner, *OwnerId::make(std::string(size, 'o')));
    const auto copy = *owner;
    EXPECT_EQ(copy, *owner);
    EXPECT_NE(*owner, *OwnerId::make(std::string(size - 1, 'o') + 'x'));
  }
}

TEST(Names, a_message_about_an_owner_never_shows_the_secret) {
  const auto owner = OwnerId::make("very-secret\n");
  ASSERT_FALSE(owner);
  EXPECT_EQ(owner.error().message.find("secret"), std::string::npos);
}

TEST(Names, a_random_owner_is_32_hexadecimal_digits) {
  EXPECT_EQ(OwnerId::from_random(0, 1).str(), "00000000000000000000000000000001");
  EXPECT_EQ(OwnerId::from_random(0x0123456789abcdef, 0xfedcba9876543210).str(),
            "0123456789abcdeffedcba9876543210");
  EXPECT_TRUE(OwnerId::make(OwnerId::from_random(~0ULL, ~0ULL).str()));
}

}  // namespace
}  // namespace holdfast
