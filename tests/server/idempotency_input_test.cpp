// SPDX-License-Identifier: Apache-2.0
//
// /v1/idempotency: what it refuses, field by field.
#include "idempotency_fixture.hpp"

#include <gmock/gmock.h>

#include <tuple>
#include <utility>

namespace holdfast::server {
namespace {

using testing::StartsWith;

TEST_F(IdempotencyTest, bad_input_is_400_by_the_name_of_the_field_and_stores_nothing) {
  start();
  const std::pair<std::string, std::string> begins[] = {
      {R"({"ttl":"0s"})", "ttl: must be between 1s and 31d"},
      {R"({"ttl":"999ms"})", "ttl: must be between 1s and 31d"},
      {R"({"ttl":"32d"})", "ttl: must be between 1s and 31d"},
      {R"({"ttl":60})", "ttl: must be a duration in a string"},
      {R"({"ttl":NaN})", "the body is not JSON"},
      {R"({"ttl":1e999})", "the JSON has a number that is out of range"},
      {R"({"guard":"99ms"})", "guard: must be between 100ms and 1d"},
      {R"({"guard":"25h"})", "guard: must be between 100ms and 1d"},
      {R"({"guard":-1})", "guard: must be a duration in a string"},
      {R"({"wait":"25h"})", "wait: must be between 0s and 1d"},
      {R"({"take_over":"maybe"})", "take_over: must be run or refuse"},
      {R"({"take_over":true})", "take_over: must be a string"},
      {R"({"owner":""})", "owner"},
      {R"({"owner":"a\nb"})", "owner"},
      {R"({"owner":7})", "owner: must be a string"},
      {R"({"fingerprint":")" + std::string(257, 'f') + "\"}", "fingerprint: must be at most 256"},
      {R"({"fingerprint":"f","request":{}})", "fingerprint: must not be given together"},
      {R"({"request":"GET /"})", "request: must be an object"},
      {R"({"request":{"verb":"GET"}})", "request.verb: there is no such field"},
      {R"({"request":{"method":1}})", "request.method: must be a string"},
      {R"({"request":{"body":1e999}})", "the JSON has a number that is out of range"},
      {R"({"nobody":1})", "nobody: there is no such field"},
      {R"([])", "the body must be a JSON object"},
      {R"(pay)", "the body is not JSON"},
  };
  for (const auto& [body, reason] : begins) {
    const auto answer = begin(body);
    EXPECT_EQ(answer.status, 400) << body << answer.body;
    EXPECT_THAT(answer.text("detail"), StartsWith(reason)) << body;
  }
  EXPECT_EQ(look().status, 404);
  EXPECT_THAT(begin("{}", std::string(401, 'k')).text("detail"),
              StartsWith("key: must be at most 400 bytes long; got 401"));
  EXPECT_EQ(begin("{}", "a%0Ab").status, 400);
  EXPECT_EQ(look("a%0Ab").status, 400);
  EXPECT_EQ(forget(R"({"reason":"x"})", "a%0Ab").status, 400);
  EXPECT_EQ(post("/v1/idempotency//begin").status, 404) << "an empty key is no key";
  EXPECT_EQ(begin("{}", std::string(400, 'k')).status, 200);
}

TEST_F(IdempotencyTest, bad_words_are_400_by_the_name_of_the_field_and_change_nothing) {
  start();
  const auto owner = begun();
  const auto mine = [&](const std::string& more) { return with_owner(owner, more); };
  const std::tuple<std::string, std::string, std::string> cases[] = {
      {"complete", "{}", "owner: must be given"},
      {"complete", R"({"owner":""})", "owner: must be given"},
      {"complete", R"({"owner":7})", "owner: must be a string"},
      {"complete", mine(R"("status":99)"), "status: must be an integer from 100 to 599"},
      {"complete", mine(R"("status":600)"), "status: must be an integer from 100 to 599"},
      {"complete", mine(R"("status":"200")"), "status: must be an integer"},
      {"complete", mine(R"("result":1,"status":200)"), "result: must not be given together"},
      {"complete", mine(R"("result":1,"body":"x")"), "result: must not be given together"},
      {"complete", mine(R"("result":NaN)"), "the body is not JSON"},
      {"complete", mine(R"("result":1e999)"), "the JSON has a number that is out of range"},
      {"complete", mine(R"("headers":[])"), "headers: must be an object"},
      {"complete", mine(R"("headers":{"A":1})"), "headers.A: must be a string"},
      {"complete", mine(R"("body":"x","body_base64":"eA==")"), "body_base64: must not be given"},
      {"complete", mine(R"("body_base64":"x")"), "body_base64: must be a string in base64"},
      {"complete", mine(R"("body_base64":[1])"), "body_base64: must be a string in base64"},
      {"complete", mine(R"("ttl":"0s")"), "ttl: must be between 1s and 31d"},
      {"complete", mine(R"("error":"x")"), "error: there is no such field"},
      {"fail", "{}", "owner: must be given"},
      {"fail", mine(""), "error: must be given"},
      {"fail", mine(R"("error":"")"), "error: must be given"},
      {"fail", mine(R"("error":")" + std::string(1025, 'e') + '"'), "error: must be at most 1024"},
      {"fail", mine(R"("error":"x","keep_failure":"32d")"), "keep_failure: must be between 0s"},
      {"fail", mine(R"("error":"x","result":1)"), "result: there is no such field"},
      {"renew", "{}", "owner: must be given"},
      {"renew", mine(R"("guard":"0s")"), "guard: must be between 100ms and 1d"},
      {"abandon", "{}", "owner: must be given"},
      {"abandon", mine(R"("ttl":"1h")"), "ttl: there is no such field"},
  };
  for (const auto& [verb, body, reason] : cases) {
    const auto answer = say(verb, body);
    EXPECT_EQ(answer.status, 400) << verb << body << answer.body;
    EXPECT_THAT(answer.text("detail"), StartsWith(reason)) << verb << body;
  }
  EXPECT_EQ(look().text("state"), "in_progress");
  EXPECT_EQ(say("complete", with_owner(owner)).status, 200) << "the run is still its owner's";
}

}  // namespace
}  // namespace holdfast::server
