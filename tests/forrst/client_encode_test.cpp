// SPDX-License-Identifier: Apache-2.0
#include "forrst/client_encode.hpp"

#include <holdfast/forrst/service.hpp>

#include "forrst/envelope.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <regex>
#include <set>

namespace holdfast::forrst {
namespace {

using namespace std::chrono_literals;

TEST(ForrstClientEncode, the_smallest_call_has_protocol_id_function_and_arguments) {
  const auto bytes = encode_call({.function = "payments.charge"}, "req_1", std::nullopt);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(*bytes, R"({"protocol":{"name":"forrst","version":"0.1.0"},"id":"req_1",)"
                    R"("call":{"function":"payments.charge","arguments":{}}})");
}

TEST(ForrstClientEncode, everything_that_a_call_can_carry_stands_where_the_protocol_has_it) {
  const CallOptions options{
      .function = "billing.generateReport",
      .version = "1.0.0",
      .arguments = {{"month", "2024-03"}},
      .context = {{"caller", "nightly"}},
      .lock = LockOptions{.key = "billing:report",
                          .ttl = 1h,
                          .scope = Scope::global,
                          .block = 5s,
                          .owner = "me",
                          .auto_release = false},
      .idempotency_key = "report-2024-03",
      .deadline = 1500ms,
      .extensions = {{.urn = "urn:cline:forrst:ext:retry"},
                     {.urn = "urn:acme:forrst:ext:trace", .options = {{"id", 7}}}}};
  const auto bytes = encode_call(options, "req_2", options.deadline);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(
      *bytes,
      R"({"protocol":{"name":"forrst","version":"0.1.0"},"id":"req_2","call":{)"
      R"("function":"billing.generateReport","version":"1.0.0","arguments":{"month":"2024-03"}},)"
      R"("context":{"caller":"nightly"},"extensions":[{"urn":"urn:forrst:ext:atomicLock",)"
      R"("options":{"key":"billing:report","ttl":{"value":3600,"unit":"second"},"scope":"global",)"
      R"("block":{"value":5,"unit":"second"},"owner":"me","auto_release":false}},)"
      R"({"urn":"urn:cline:forrst:ext:idempotency","options":{"key":"report-2024-03"}},)"
      R"({"urn":"urn:cline:forrst:ext:deadline","options":{"value":1500,"unit":"millisecond"}},)"
      R"({"urn":"urn:cline:forrst:ext:retry"},)"
      R"({"urn":"urn:acme:forrst:ext:trace","options":{"id":7}}]})");
}

TEST(ForrstClientEncode, our_own_server_reads_what_we_write) {
  const CallOptions options{.function = "payments.charge",
                            .lock = LockOptions{.key = "user:123", .ttl = 30s},
                            .idempotency_key = "k",
                            .deadline = 10s};
  const auto bytes = encode_call(options, fresh_request_id(), options.deadline);
  ASSERT_TRUE(bytes);
  const auto read = parse_envelope(*bytes);
  ASSERT_TRUE(read) << read.error().faults.front().message;
  EXPECT_EQ(read->function, "payments.charge");
  EXPECT_EQ(read->extensions.size(), 3U);
}

TEST(ForrstClientEncode, a_deadline_is_cut_to_milliseconds_and_never_to_nothing) {
  const auto text = [](Duration left) {
    return *encode_call({.function = "f"}, "1", std::optional<Duration>(left));
  };
  EXPECT_NE(text(1999us).find(R"({"value":1,"unit":"millisecond"})"), std::string::npos);
  EXPECT_NE(text(10us).find(R"({"value":1,"unit":"millisecond"})"), std::string::npos);
}

TEST(ForrstClientEncode, ids_are_uuids_of_version_4_and_never_the_same) {
  const std::regex shape("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const auto id = fresh_request_id();
    ASSERT_TRUE(std::regex_match(id, shape)) << id;
    ASSERT_TRUE(seen.insert(id).second) << id;
  }
}

struct BadCall {
  std::string_view field;  // what the message begins with
  std::function<void(CallOptions&)> spoil;
};

std::vector<BadCall> bad_calls() {
  const auto with_lock = [](auto spoil) {
    return [spoil](CallOptions& options) {
      options.lock = LockOptions{.key = "k", .ttl = 30s};
      spoil(*options.lock);
    };
  };
  const auto with_backoff = [](auto spoil) {
    return [spoil](CallOptions& options) { spoil(options.backoff.emplace()); };
  };
  return {
      {"function: ", [](auto& call) { call.function.clear(); }},
      {"function: ", [](auto& call) { call.function = std::string(201, 'f'); }},
      {"timeout: ", [](auto& call) { call.timeout = 0s; }},
      {"timeout: ", [](auto& call) { call.timeout = -1s; }},
      {"timeout: ", [](auto& call) { call.timeout = Duration::max(); }},
      {"deadline: ", [](auto& call) { call.deadline = 0ms; }},
      {"deadline: ", [](auto& call) { call.deadline = 999us; }},
      {"deadline: ", [](auto& call) { call.deadline = 25h; }},
      {"idempotency_key: ", [](auto& call) { call.idempotency_key = ""; }},
      {"idempotency_key: ", [](auto& call) { call.idempotency_key = std::string(256, 'k'); }},
      {"lock.key: ", with_lock([](auto& lock) { lock.key.clear(); })},
      {"lock.key: ", with_lock([](auto& lock) { lock.key = std::string(201, 'k'); })},
      {"lock.ttl: ", with_lock([](auto& lock) { lock.ttl = 0s; })},
      {"lock.ttl: ", with_lock([](auto& lock) { lock.ttl = -1s; })},
      {"lock.ttl: ", with_lock([](auto& lock) { lock.ttl = 1500ms; })},
      {"lock.ttl: ", with_lock([](auto& lock) { lock.ttl = 24h + 1s; })},
      {"lock.block: ", with_lock([](auto& lock) { lock.block = 100ms; })},
      {"lock.block: ", with_lock([](auto& lock) { lock.block = -1s; })},
      {"lock.block: ", with_lock([](auto& lock) { lock.block = 25h; })},
      {"backoff.attempts: ", with_backoff([](auto& backoff) { backoff.attempts = 0; })},
      {"backoff.first: ", with_backoff([](auto& backoff) { backoff.first = 0s; })},
      {"backoff.most: ", with_backoff([](auto& backoff) { backoff.most = 1ms; })},
      {"backoff.factor: ", with_backoff([](auto& backoff) { backoff.factor = 0.5; })},
      {"backoff.factor: ", with_backoff([](auto& backoff) {
         backoff.factor = std::numeric_limits<double>::quiet_NaN();
       })},
      {"backoff.jitter: ", with_backoff([](auto& backoff) { backoff.jitter = 1.1; })},
      {"extensions: ",
       [](auto& call) { call.extensions.resize(51, {.urn = "urn:x:forrst:ext:y"}); }},
      {"extensions.urn: ", [](auto& call) { call.extensions.push_back({.urn = ""}); }},
      {"extensions: ",
       [](auto& call) {
         call.lock = LockOptions{.key = "k", .ttl = 30s};
         call.extensions.push_back({.urn = "urn:cline:forrst:ext:atomic-lock"});
       }},
      {"extensions: ",
       [](auto& call) {
         call.deadline = 1s;
         call.extensions.push_back({.urn = "urn:forrst:ext:deadline"});
       }},
  };
}

TEST(ForrstClientEncode, what_cannot_be_said_is_refused_by_field_and_rule) {
  for (const auto& each : bad_calls()) {
    CallOptions options{.function = "payments.charge"};
    ASSERT_TRUE(check_call(options));
    each.spoil(options);
    const auto good = check_call(options);
    ASSERT_FALSE(good) << each.field;
    EXPECT_EQ(good.error().code, Errc::bad_input);
    EXPECT_TRUE(good.error().message.starts_with(each.field)) << good.error().message;
  }
}

TEST(ForrstClientEncode, text_that_is_no_utf8_and_too_much_of_it_are_refused) {
  const auto not_text = encode_call({.function = "f", .arguments = {{"a", "\xff"}}}, "1", {});
  ASSERT_FALSE(not_text);
  EXPECT_EQ(not_text.error().code, Errc::bad_input);
  EXPECT_NE(not_text.error().message.find("UTF-8"), std::string::npos);
  const std::string much(max_request_bytes, 'x');
  const auto too_much = encode_call({.function = "f", .arguments = {{"a", much}}}, "1", {});
  ASSERT_FALSE(too_much);
  EXPECT_EQ(too_much.error().code, Errc::bad_input);
  EXPECT_NE(too_much.error().message.find("1048576"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::forrst
