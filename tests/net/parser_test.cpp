// SPDX-License-Identifier: Apache-2.0
#include "net/resp/parser.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::net::resp {
namespace {

TEST(Parser, replies_come_out_in_order_and_whole) {
  Parser parser;
  parser.feed("+OK\r\n:42\r\n$5\r\nhe");
  EXPECT_EQ(text_of(*parser.next().value()), "OK");
  EXPECT_EQ(parser.next().value()->integer, 42);
  EXPECT_EQ(parser.next().value(), nullptr);
  parser.feed("llo\r\n");
  EXPECT_EQ(text_of(*parser.next().value()), "hello");
}

TEST(Parser, a_reply_may_come_byte_by_byte) {
  Parser parser;
  const std::string bytes = "*2\r\n$3\r\none\r\n*1\r\n:2\r\n";
  for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
    parser.feed({&bytes[i], 1});
    ASSERT_EQ(parser.next().value(), nullptr) << i;
  }
  parser.feed({&bytes.back(), 1});
  const Reply reply = parser.next().value();
  ASSERT_NE(reply, nullptr);
  EXPECT_EQ(reply->elements, 2U);
}

TEST(Parser, what_is_not_the_protocol_is_an_error) {
  Parser parser;
  parser.feed("HTTP/1.1 400 Bad Request\r\n");
  const auto reply = parser.next();
  ASSERT_FALSE(reply);
  EXPECT_TRUE(reply.error().message.contains("not a reply")) << reply.error().message;
}

TEST(Parser, an_array_of_absurd_length_is_refused_before_room_is_made) {
  Parser parser;
  parser.feed("*2000000000\r\n");
  EXPECT_FALSE(parser.next());
}

TEST(Parser, absurd_nesting_is_refused) {
  Parser parser;
  for (int depth = 0; depth < 20; ++depth) parser.feed("*1\r\n");
  EXPECT_FALSE(parser.next());
}

TEST(Parser, an_endless_reply_is_refused) {
  Parser parser;
  parser.feed("$1000000000\r\n");
  const std::string piece(1 << 20, 'x');
  bool is_refused = false;
  for (int i = 0; i < 80 && !is_refused; ++i) {
    parser.feed(piece);
    is_refused = !parser.next();
  }
  EXPECT_TRUE(is_refused);
}

}  // namespace
}  // namespace holdfast::net::resp
