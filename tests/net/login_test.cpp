// SPDX-License-Identifier: Apache-2.0
#include "net/resp/login.hpp"

#include "net/resp/command.hpp"
#include "net/resp/parser.hpp"

#include <gtest/gtest.h>

namespace holdfast::net::resp {
namespace {

std::vector<Reply> replies_of(std::string_view bytes) {
  Parser parser;
  parser.feed(bytes);
  std::vector<Reply> replies;
  while (Reply reply = parser.next().value()) replies.push_back(std::move(reply));
  return replies;
}

TEST(Login, without_password_and_database_asks_only_whether_somebody_is_there) {
  const Opening opening = login({});
  EXPECT_EQ(opening.bytes, command("PING") + command("CLIENT", "SETNAME", "holdfast"));
  EXPECT_EQ(opening.replies, 2U);
}

TEST(Login, a_password_alone_is_of_the_default_user) {
  const Opening opening = login({.password = "hush"});
  EXPECT_TRUE(opening.bytes.starts_with(command("AUTH", "hush")));
  EXPECT_EQ(opening.replies, 3U);
}

TEST(Login, a_user_and_a_database_are_named_in_that_order) {
  const Opening opening = login({.user = "ann", .password = "hush", .database = 7});
  EXPECT_TRUE(opening.bytes.starts_with(command("AUTH", "ann", "hush") +
                                        command("SELECT", std::uint64_t{7})));
  EXPECT_EQ(opening.replies, 4U);
}

TEST(Login, a_wrong_password_is_refused_in_the_servers_words) {
  const Endpoint endpoint{.password = "hush"};
  const auto replies = replies_of("-WRONGPASS no\r\n-NOAUTH no\r\n-NOAUTH no\r\n");
  const auto verdict = judge_login(endpoint, replies);
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().message, "WRONGPASS no");
}

TEST(Login, a_database_that_does_not_exist_is_refused) {
  const Endpoint endpoint{.database = 99};
  const auto replies = replies_of("-ERR DB index is out of range\r\n+PONG\r\n+OK\r\n");
  EXPECT_FALSE(judge_login(endpoint, replies));
}

TEST(Login, a_server_that_is_loading_is_not_ready) {
  const auto replies = replies_of("-LOADING Redis is loading\r\n+OK\r\n");
  const auto verdict = judge_login({}, replies);
  ASSERT_FALSE(verdict);
  EXPECT_TRUE(is_loading(verdict.error()));
}

TEST(Login, a_user_who_may_neither_ping_nor_have_a_name_is_let_in) {
  const Endpoint endpoint{.user = "ann", .password = "hush"};
  EXPECT_TRUE(judge_login(endpoint, replies_of("+OK\r\n-NOPERM ping\r\n-NOPERM client\r\n")));
}

}  // namespace
}  // namespace holdfast::net::resp
