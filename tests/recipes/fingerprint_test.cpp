// SPDX-License-Identifier: Apache-2.0
#include <holdfast/idempotency.hpp>

#include "support/running.hpp"

#include <gtest/gtest.h>

namespace holdfast::test {
namespace {

TEST(Fingerprint, is_the_sha_256_of_its_parts_with_bars_between) {
  // printf 'POST|/payments|{"amount":10,"to":"bob"}' | sha256sum
  EXPECT_EQ(
      value_of(request_fingerprint(
          {.method = "POST", .path = "/payments", .body = R"({ "to": "bob", "amount": 10.0 })"})),
      "45848ce1bc18c3567a4ed03992af40197a40540cdce8abb6e585041a6b2d15cd");
  // printf 'GET|/payments?page=2|{}|{"page":"2"}' | sha256sum
  EXPECT_EQ(
      value_of(request_fingerprint(
          {.method = "GET", .path = "/payments?page=2", .body = "", .query = R"({"page":"2"})"})),
      "59c89e6cb1deaccc06ecd697d52cc938c12d75fdb9468ad1d549c28b4604e47c");
}

TEST(Fingerprint, of_a_body_depends_on_neither_its_spaces_nor_the_order_of_its_keys) {
  EXPECT_EQ(value_of(request_fingerprint({.body = R"({"a":{"x":1,"y":2},"b":[1,2]})"})),
            value_of(request_fingerprint({.body = R"({"b":[1, 2], "a":{"y":2.0, "x":1}})"})));
  EXPECT_NE(value_of(request_fingerprint({.body = "[1,2]"})),
            value_of(request_fingerprint({.body = "[2,1]"})));
}

TEST(Fingerprint, of_no_body_is_that_of_an_empty_object) {
  const auto empty = value_of(request_fingerprint({.method = "POST", .body = "{}"}));
  EXPECT_EQ(value_of(request_fingerprint({.method = "POST", .body = ""})), empty);
  EXPECT_EQ(value_of(request_fingerprint({.method = "POST", .body = " null "})), empty);
  EXPECT_NE(value_of(request_fingerprint({.method = "POST", .body = "[null]"})), empty);
  EXPECT_NE(value_of(request_fingerprint({.method = "POST"})), empty) << "the part is left out";
}

TEST(Fingerprint, names_the_part_that_is_no_json) {
  const auto body = request_fingerprint({.method = "POST", .body = R"({"amount":NaN})"});
  ASSERT_EQ(error_of(body), Errc::bad_input);
  EXPECT_EQ(body.error().message, "body: must be JSON: no value at byte 10");
  const auto query = request_fingerprint({.body = "{}", .query = "page=2"});
  ASSERT_EQ(error_of(query), Errc::bad_input);
  EXPECT_EQ(query.error().message, "query: must be JSON: no value at byte 0");
  const auto huge = request_fingerprint({.body = R"({"amount":1e999})"});
  ASSERT_EQ(error_of(huge), Errc::bad_input);
  EXPECT_EQ(huge.error().message, "body: must be JSON: a number beyond the doubles at byte 10");
}

TEST(Fingerprint, of_nothing_is_refused) {
  EXPECT_EQ(error_of(request_fingerprint({})), Errc::bad_input);
}

TEST(Fingerprint, the_canonical_form_is_public_too) {
  EXPECT_EQ(value_of(canonical_json(R"({"b":1e21,"a":null})")), R"({"a":null,"b":1e+21})");
  const auto refused = canonical_json("{]");
  ASSERT_EQ(error_of(refused), Errc::bad_input);
  EXPECT_EQ(refused.error().message, "json: must be JSON: a key in quotes is missing at byte 1");
}

}  // namespace
}  // namespace holdfast::test
