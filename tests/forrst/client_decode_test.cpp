// SPDX-License-Identifier: Apache-2.0
#include "forrst/client_decode.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace holdfast::forrst {
namespace {

constexpr std::string_view head =
    R"({"protocol":{"name":"forrst","version":"0.1.0"},"id":"req_1",)";

std::expected<CallReply, std::string> decoded(std::string_view rest) {
  return decode_reply(std::string(head).append(rest).append("}"), "req_1");
}

TEST(ForrstClientDecode, a_result_comes_back_with_extensions_and_meta) {
  const auto reply =
      decoded(R"("result":{"charge_id":"ch_abc"},"extensions":[{"urn":"urn:forrst:ext:atomicLock",)"
              R"("data":{"key":"user:123","acquired":true,"owner":"550e8400","scope":"function",)"
              R"("expires_at":"2024-03-15T10:30:30Z","fence":1794824118754014}},)"
              R"({"urn":"urn:acme:forrst:ext:trace"}],"meta":{"node":"a"},"more":[1])");
  ASSERT_TRUE(reply) << reply.error();
  EXPECT_TRUE(reply->ok());
  EXPECT_EQ(reply->id, "req_1");
  EXPECT_EQ(reply->result, boost::json::value({{"charge_id", "ch_abc"}}));
  EXPECT_EQ(reply->meta.at("node"), "a");
  ASSERT_NE(reply->extension("trace"), nullptr);
  EXPECT_TRUE(reply->extension("trace")->empty());
  EXPECT_EQ(reply->extension("retry"), nullptr);
  const auto lock = reply->lock();
  ASSERT_TRUE(lock);
  EXPECT_EQ(lock->key, "user:123");
  EXPECT_TRUE(lock->acquired);
  EXPECT_EQ(lock->owner, "550e8400");
  EXPECT_EQ(lock->scope, "function");
  EXPECT_EQ(lock->expires_at, "2024-03-15T10:30:30Z");
  EXPECT_EQ(lock->fence, 1794824118754014U);
}

TEST(ForrstClientDecode, a_lock_is_found_under_every_spelling_of_its_urn) {
  for (const auto* urn : {"urn:forrst:ext:atomicLock", "urn:forrst:ext:atomic-lock",
                          "urn:cline:forrst:ext:atomic-lock"}) {
    const auto reply = decoded(fmt::format(
        R"("result":1,"extensions":[{{"urn":"{}","data":{{"key":"k","fence":"42"}}}}])", urn));
    ASSERT_TRUE(reply) << reply.error();
    ASSERT_TRUE(reply->lock()) << urn;
    EXPECT_FALSE(reply->lock()->acquired);
    EXPECT_EQ(reply->lock()->fence, 42U);
  }
  EXPECT_FALSE(decoded(R"("result":1)")->lock());
}

TEST(ForrstClientDecode, errors_come_back_with_their_places_and_details) {
  const auto reply = decoded(
      R"("result":null,"errors":[{"code":"LOCK_TIMEOUT","message":"late","details":{"key":"k"}},)"
      R"({"code":"INVALID_ARGUMENTS","message":"m","source":{"pointer":"/call/arguments/a"}},)"
      R"({"code":"PARSE_ERROR","message":"p","source":{"position":17}}])");
  ASSERT_TRUE(reply) << reply.error();
  EXPECT_FALSE(reply->ok());
  EXPECT_TRUE(reply->has("LOCK_TIMEOUT"));
  EXPECT_FALSE(reply->has("LOCK"));
  ASSERT_EQ(reply->faults.size(), 3U);
  EXPECT_EQ(reply->faults[0].details.at("key"), "k");
  EXPECT_EQ(reply->faults[1].pointer, "/call/arguments/a");
  EXPECT_EQ(reply->faults[2].position, 17U);
}

TEST(ForrstClientDecode, an_answer_without_an_id_is_ours_only_if_it_tells_errors) {
  constexpr auto text = R"({{"protocol":{{"name":"forrst","version":"0.1.0"}},"id":null,{}}})";
  const auto refusal = decode_reply(
      fmt::format(text, R"("result":null,"errors":[{"code":"PARSE_ERROR","message":"x"}])"), "1");
  ASSERT_TRUE(refusal) << refusal.error();
  EXPECT_TRUE(refusal->id.empty());
  EXPECT_FALSE(decode_reply(fmt::format(text, R"("result":1)"), "1"));
}

TEST(ForrstClientDecode, what_php_writes_for_empty_objects_and_lists_of_details_is_understood) {
  const auto reply =
      decoded(R"("result":null,"errors":[{"code":"INVALID_REQUEST","message":"m",)"
              R"("details":[{"detail":"why"}]},{"code":"GONE","message":"m","details":[]}],)"
              R"("extensions":[{"urn":"urn:cline:forrst:ext:retry","data":[]}],"meta":[])");
  ASSERT_TRUE(reply) << reply.error();
  EXPECT_EQ(reply->faults[0].details.at("details").as_array().size(), 1U);
  EXPECT_TRUE(reply->faults[1].details.empty());
  ASSERT_NE(reply->extension("retry"), nullptr);
}

struct Garbage {
  std::string_view body;
  std::string_view complaint;
};

constexpr Garbage garbage[] = {
    {"", "no JSON"},
    {"<html>", "no JSON"},
    {R"({"id":"req_1","id":"req_1"})", "no JSON"},
    {"[]", "no object"},
    {R"({"id":"req_1","result":1})", "`protocol`"},
    {R"({"protocol":"forrst/0.1","id":"req_1","result":1})", "`protocol`"},
    {R"({"protocol":{"name":"grpc","version":"0.1.0"},"id":"req_1","result":1})",
     "`protocol.name`"},
    {R"({"protocol":{"name":"forrst","version":"1.0.0"},"id":"req_1","result":1})",
     "`protocol.version`"},
    {R"({"protocol":{"name":"forrst","version":1},"id":"req_1","result":1})", "`protocol.version`"},
    {R"({"protocol":{"name":"forrst","version":"0.1.0"},"result":1})", "`id`"},
    {R"({"protocol":{"name":"forrst","version":"0.1.0"},"id":"req_2","result":1})", "`id`"},
    {R"({"protocol":{"name":"forrst","version":"0.1.0"},"id":1,"result":1})", "`id`"},
};

constexpr Garbage garbage_behind_the_head[] = {
    {R"("errors":[{"code":"GONE","message":"m"}])", "`result`"},
    {R"("result":1,"errors":[{"code":"GONE","message":"m"}])", "beside `errors`"},
    {R"("result":null,"errors":[])", "`errors`"},
    {R"("result":null,"errors":null)", "`errors`"},
    {R"("result":null,"errors":{"code":"GONE"})", "`errors`"},
    {R"("result":null,"errors":["GONE"])", "no object"},
    {R"("result":null,"errors":[{"message":"m"}])", "`code`"},
    {R"("result":null,"errors":[{"code":7,"message":"m"}])", "`code`"},
    {R"("result":null,"errors":[{"code":"GONE"}])", "`message`"},
    {R"("result":null,"errors":[{"code":"GONE","message":"m","details":"d"}])", "`details`"},
    {R"("result":null,"errors":[{"code":"GONE","message":"m","source":7}])", "`source`"},
    {R"("result":null,"errors":[{"code":"GONE","message":"m","source":{"pointer":7}}])",
     "`pointer`"},
    {R"("result":null,"errors":[{"code":"GONE","message":"m","source":{"position":-1}}])",
     "`position`"},
    {R"("result":null,"errors":[{"code":"GONE","message":"m",)"
     R"("source":{"pointer":"/a","position":1}}])",
     "both"},
    {R"("result":1,"extensions":{})", "`extensions`"},
    {R"("result":1,"extensions":[{"data":{}}])", "`urn`"},
    {R"("result":1,"extensions":[{"urn":"urn:x:forrst:ext:y","data":7}])", "`data`"},
    {R"("result":1,"meta":"m")", "`meta`"},
};

TEST(ForrstClientDecode, what_is_no_answer_is_refused_with_what_is_wrong) {
  for (const auto& each : garbage) {
    const auto reply = decode_reply(each.body, "req_1");
    ASSERT_FALSE(reply) << each.body;
    EXPECT_NE(reply.error().find(each.complaint), std::string::npos) << reply.error();
  }
  for (const auto& each : garbage_behind_the_head) {
    const auto reply = decoded(each.body);
    ASSERT_FALSE(reply) << each.body;
    EXPECT_NE(reply.error().find(each.complaint), std::string::npos) << reply.error();
  }
}

TEST(ForrstClientDecode, a_bomb_of_brackets_is_refused) {
  const std::string deep(100'000, '[');
  EXPECT_FALSE(decoded("\"result\":" + deep));
}

TEST(ForrstClientDecode, only_a_refusal_by_status_surely_did_nothing) {
  const auto code_of = [](int status) { return unreadable({.status = status}, "p", "w").code; };
  for (const int status : {301, 400, 401, 403, 404, 413, 429}) {
    EXPECT_EQ(code_of(status), Errc::unavailable) << status;
  }
  for (const int status : {0, 200, 204, 408, 499, 500, 502, 503, 504}) {
    EXPECT_EQ(code_of(status), Errc::outcome_unknown) << status;
  }
  EXPECT_NE(unreadable({.status = 502}, "p", "w").message.find("502"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::forrst
