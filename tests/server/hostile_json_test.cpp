// SPDX-License-Identifier: Apache-2.0
//
// Bodies and names that must be refused: with 400 and the field, and without a trace.
#include "server_fixture.hpp"

#include <vector>

namespace holdfast::server {
namespace {

using namespace std::string_literals;

class HostileJsonTest : public ServerTest {
 protected:
  void SetUp() override { start(); }
  void TearDown() override {
    const auto all = get("/v1/locks");
    EXPECT_EQ(all.status, 200);
    EXPECT_NE(all.body.find(R"("locks":[])"), std::string::npos) << all.body;
  }
  void expect_refused(const std::string& body, const std::string& mentions) {
    const auto answer = post("/v1/locks/a/acquire", body);
    const auto shown = body.substr(0, 100);
    EXPECT_EQ(answer.status, 400) << shown << answer.body;
    EXPECT_EQ(answer.code(), "bad_input") << shown;
    EXPECT_NE(answer.text("detail").find(mentions), std::string::npos) << shown << answer.body;
  }
};

std::string repeated(const std::string& what, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += what;
  return text;
}

TEST_F(HostileJsonTest, what_is_no_json_or_means_two_things_is_refused) {
  expect_refused(repeated("[", 30'000) + repeated("]", 30'000), "nested deeper");
  expect_refused(repeated(R"({"a":)", 10'000), "nested deeper");
  expect_refused(R"({"ttl":"1s","ttl":"2s"})", "same key twice");
  expect_refused(R"({"ttl":"1s","\u0074tl":"2s"})", "same key twice");
  expect_refused(R"({"metadata":{"note":"a","note":"b"}})", "same key twice");
  expect_refused(R"({"capacity":1e400})", "out of range");
  expect_refused(R"({"ttl":"1s"} x)", "not JSON");
  expect_refused(R"({"ttl":"1s"}{})", "not JSON");
  expect_refused("\xef\xbb\xbf{}", "not JSON");
  expect_refused("{\0}\0"s, "not JSON");
  expect_refused("\xff\xfe{\0}\0"s, "not JSON");
  expect_refused(R"({"capacity":NaN})", "not JSON");
  expect_refused(R"({"capacity":Infinity})", "not JSON");
  expect_refused("{'ttl':'1s'}", "not JSON");
  expect_refused("{\"ttl\":\"1s\",}", "not JSON");
  expect_refused("{/* */}", "not JSON");
  expect_refused("{\"owner\":\"\xff\"}", "not JSON");
  expect_refused("{\"owner\":\"\xc0\xaf\"}", "not JSON");
  expect_refused(R"({"owner":"\ud800"})", "not JSON");
  expect_refused("{\"owner\":\"a\nb\"}", "not JSON");
  expect_refused("[]", "must be a JSON object");
  expect_refused("null", "must be a JSON object");
  expect_refused("\"x\"", "must be a JSON object");
  expect_refused("{\"unknown\":1}", "unknown: there is no such field");
  expect_refused("{", "not JSON");
}

TEST_F(HostileJsonTest, more_than_fits_is_refused_before_it_is_read) {
  const auto deep = post("/v1/locks/a/acquire", repeated("[", 100'000));
  EXPECT_EQ(deep.status, 413);
  EXPECT_EQ(deep.code(), "body_too_long");
}

TEST_F(HostileJsonTest, a_field_of_the_wrong_type_is_named) {
  const std::vector<std::string> wrong{"1", "-1", "1.5", "true", "\"\"", "\"x\"", "[]", "{}"};
  const auto try_all = [&](const std::string& field, const std::vector<std::string>& good) {
    for (const auto& value : wrong) {
      if (std::ranges::find(good, value) != good.end()) continue;
      expect_refused(fmt::format(R"({{"{}":{}}})", field, value), field);
    }
  };
  try_all("ttl", {});
  try_all("wait", {});
  try_all("kind", {});
  try_all("mode", {});
  try_all("order", {});
  try_all("capacity", {});
  try_all("permits", {});
  try_all("owner", {"\"x\""});
  try_all("request", {"\"\"", "\"x\""});
  try_all("metadata", {"{}"});
  for (const auto* field : {"note", "source", "value", "host", "program"}) {
    expect_refused(fmt::format(R"({{"metadata":{{"{}":1}}}})", field),
                   fmt::format("metadata.{}:", field));
  }
  expect_refused(R"({"metadata":{"pid":"1"}})", "metadata.pid:");
  expect_refused(R"({"metadata":{"pid":-1}})", "metadata.pid:");
  expect_refused(R"({"metadata":{"pid":4294967296}})", "metadata.pid:");
  expect_refused(R"({"metadata":{"other":1}})", "metadata.other:");
  expect_refused(R"({"session":1})", "session:");
  expect_refused(R"({"dialect":1})", "dialect:");
}

TEST_F(HostileJsonTest, durations_are_an_integer_and_a_unit_within_limits) {
  for (const auto* value : {R"("0s")",
                            R"("-1s")",
                            R"("1.5s")",
                            R"("10")",
                            "10",
                            R"("1000h")",
                            R"("25h")",
                            R"("")",
                            R"(" 1s")",
                            R"("1s ")",
                            R"("1S")",
                            R"("5m5")",
                            R"("1e3s")",
                            R"("0.5")",
                            R"("NaN")",
                            R"("Infs")",
                            R"("9223372036854775808s")",
                            R"("9223372036854775807d")",
                            R"("1us")",
                            R"("\u0000")",
                            "1e308",
                            "true"}) {
    expect_refused(fmt::format(R"({{"ttl":{}}})", value), "ttl:");
  }
  for (const auto* value : {R"("-1s")", R"("25h")", R"("2d")", "0", R"("1")"}) {
    expect_refused(fmt::format(R"({{"wait":{}}})", value), "wait:");
  }
}

TEST_F(HostileJsonTest, numbers_of_any_length_are_numbers) {
  const auto number = [](const std::string& value) {
    return R"({"kind":"semaphore","capacity":)" + value + "}";
  };
  for (const auto& value : {"0"s, "-1"s, "1.5"s, "1e0"s, "4294967295"s, "4294967296"s,
                            "9223372036854775808"s, "18446744073709551616"s, "1e-400"s,
                            "1"s + std::string(300, '0'), "0."s + std::string(30'000, '3')}) {
    expect_refused(number(value), "capacity:");
  }
  expect_refused(number("1" + std::string(30'000, '0')), "");
}

TEST_F(HostileJsonTest, names_are_clean_and_not_too_long) {
  const auto refused = [&](const std::string& name) {
    for (const auto* verb : {"acquire", "renew", "release"}) {
      const auto answer = post("/v1/locks/" + name + "/" + verb, R"({"owner":"x"})");
      EXPECT_EQ(answer.status, 400) << name << verb << answer.body;
      EXPECT_NE(answer.text("detail").find("name"), std::string::npos) << name << answer.body;
    }
    EXPECT_EQ(get("/v1/locks/" + name).status, 400) << name;
    EXPECT_EQ(
        call({.method = "DELETE", .path = "/v1/locks/" + name, .body = R"({"reason":"r"})"}).status,
        400)
        << name;
  };
  refused(std::string(513, 'x'));
  refused("a%00b");
  refused("%00");
  refused("a%0Ab");
  refused("a%0D%0AX-Injected:%20yes");
  refused("%ff");
  refused("%c0%af");
  refused("%ed%a0%80");
  refused("a%E2%80%A8b");
  refused("a%7fb");
  EXPECT_EQ(post("/v1/locks//acquire").status, 404);
  EXPECT_EQ(post("/v1/locks/../acquire/acquire").status, 404);
}

TEST_F(HostileJsonTest, names_that_only_look_strange_are_names) {
  const auto take_and_release = [&](const std::string& path, const std::string& name) {
    const auto taken = post("/v1/locks/" + path + "/acquire");
    ASSERT_EQ(taken.status, 200) << taken.body;
    EXPECT_EQ(taken.text("name"), name);
    const auto body = R"({"owner":")" + taken.text("owner") + R"("})";
    EXPECT_EQ(post("/v1/locks/" + path + "/release", body).status, 200);
  };
  take_and_release(std::string(512, 'x'), std::string(512, 'x'));
  take_and_release("a%2Fb", "a/b");
  take_and_release("..%2f..%2fetc%2fpasswd", "../../etc/passwd");
  take_and_release("..", "..");
  take_and_release("a+b", "a+b");
  take_and_release("%7b%2a%3f%7d", "{*?}");
  take_and_release("-x", "-x");
  take_and_release("acquire", "acquire");
  take_and_release("%C3%A4", "\xc3\xa4");
  take_and_release("\xc3\xa4", "\xc3\xa4");
}

TEST_F(HostileJsonTest, a_null_is_a_field_that_was_left_out) {
  const auto taken = post("/v1/locks/a/acquire",
                          R"({"ttl":null,"wait":null,"owner":null,"metadata":null,"kind":null})");
  ASSERT_EQ(taken.status, 200) << taken.body;
  const auto body = R"({"owner":")" + taken.text("owner") + R"("})";
  EXPECT_EQ(post("/v1/locks/a/release", body).status, 200);
}

}  // namespace
}  // namespace holdfast::server
