// SPDX-License-Identifier: Apache-2.0
#include "net/resp/command.hpp"

#include "net/resp/endpoint.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace holdfast::net::resp {
namespace {

TEST(Command, every_part_has_its_length_in_front) {
  EXPECT_EQ(command("SET", "name", "a value"),
            "*3\r\n$3\r\nSET\r\n$4\r\nname\r\n$7\r\na value\r\n");
}

TEST(Command, a_part_may_be_empty_or_hold_any_byte) {
  using namespace std::string_view_literals;
  EXPECT_EQ(command("SET", "", "\r\n\0$"sv), "*3\r\n$3\r\nSET\r\n$0\r\n\r\n$4\r\n\r\n\0$\r\n"sv);
}

TEST(Command, numbers_are_written_as_text) {
  EXPECT_EQ(command("X", std::uint64_t{0}), "*2\r\n$1\r\nX\r\n$1\r\n0\r\n");
  EXPECT_EQ(command("X", std::numeric_limits<std::uint64_t>::max()),
            "*2\r\n$1\r\nX\r\n$20\r\n18446744073709551615\r\n");
}

TEST(Endpoint, is_described_as_a_person_would_write_it) {
  EXPECT_EQ((Endpoint{.host = "redis.example", .port = 6380}).describe(), "redis.example:6380");
  EXPECT_EQ((Endpoint{.host = "::1", .port = 6379}).describe(), "[::1]:6379");
  EXPECT_EQ((Endpoint{.unix_path = "/run/redis.sock"}).describe(), "unix:/run/redis.sock");
}

TEST(Endpoint, its_description_has_no_secrets) {
  const Endpoint endpoint{.user = "somebody", .password = "hush"};
  EXPECT_EQ(endpoint.describe(), "127.0.0.1:6379");
}

}  // namespace
}  // namespace holdfast::net::resp
