// SPDX-License-Identifier: Apache-2.0
#include "text/base64.hpp"

#include "support/random_text.hpp"

#include <gtest/gtest.h>

namespace holdfast::text {
namespace {

TEST(Base64, the_vectors_of_the_standard) {
  const std::pair<std::string, std::string> all[] = {{"", ""},
                                                     {"f", "Zg=="},
                                                     {"fo", "Zm8="},
                                                     {"foo", "Zm9v"},
                                                     {"foob", "Zm9vYg=="},
                                                     {"fooba", "Zm9vYmE="},
                                                     {"foobar", "Zm9vYmFy"},
                                                     {"\xff\xfe", "//4="}};
  for (const auto& [bytes, text] : all) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, any_bytes_come_back_as_they_were) {
  test::Random random;
  for (int i = 0; i < 2000; ++i) {
    const auto bytes = random.bytes(100);
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
  }
}

TEST(Base64, what_it_would_not_write_is_refused) {
  for (const auto* text : {"Z", "Zg", "Zg=", "Zh==", "Zm9=", "Zg==Zg==", "Z===", "====", "Zm9v ",
                           "Zm 9", "Zm9\n", "Zm-_", "=m9v", "Z=9v", "Zm=v", "Zm9\xc3"}) {
    EXPECT_FALSE(from_base64(text)) << text;
  }
}

}  // namespace
}  // namespace holdfast::text
