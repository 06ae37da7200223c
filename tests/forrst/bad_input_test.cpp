// SPDX-License-Identifier: Apache-2.0
//
// Whatever is wrong with a request is told by its code and its place, nothing is done, and no lock
// is left behind.
#include "forrst/service_fixture.hpp"

#include <string>

namespace holdfast::test {
namespace {

constexpr std::string_view good = R"({
  "protocol": {"name": "forrst", "version": "0.1.0"},
  "id": "r1",
  "call": {"function": "payments.charge", "version": "1.0.0",
           "arguments": {"user_id": "u", "amount": 1}},
  "context": {},
  "extensions": [{"urn": "urn:forrst:ext:atomicLock",
                  "options": {"key": "user:1", "ttl": {"value": 30, "unit": "second"},
                              "scope": "function", "block": {"value": 1, "unit": "second"},
                              "owner": "me", "auto_release": true}}]
})";

struct ChangedMember {
  std::string name;
  std::string pointer;  // of the member that is replaced or, without a value, removed
  std::string value;    // JSON
  std::string code;
  std::string place;  // where the answer points to
  int status = 400;
};

std::ostream& operator<<(std::ostream& out, const ChangedMember& each) { return out << each.name; }

// The good request with one member changed.
std::string changed(const ChangedMember& each) {
  auto body = json::parse(good);
  const auto cut = each.pointer.rfind('/');
  const auto last = each.pointer.substr(cut + 1);
  auto& parent = cut == 0 ? body : body.at_pointer(each.pointer.substr(0, cut));
  if (each.value.empty()) {
    parent.as_object().erase(last);
  } else if (parent.is_array()) {
    parent.as_array()[std::stoul(last)] = json::parse(each.value);
  } else {
    parent.as_object()[last] = json::parse(each.value);
  }
  return json::serialize(body);
}

constexpr const char* request = "INVALID_REQUEST";
constexpr const char* arguments = "INVALID_ARGUMENTS";
const std::string options = "/extensions/0/options";

std::string text_of(std::size_t length) { return '"' + std::string(length, 'k') + '"'; }

std::vector<ChangedMember> cases() {
  std::vector<ChangedMember> all{
      {"protocol_missing", "/protocol", "", request, "/protocol"},
      {"protocol_null", "/protocol", "null", request, "/protocol"},
      {"protocol_text", "/protocol", R"("forrst/0.1")", request, "/protocol"},
      {"protocol_name", "/protocol/name", R"("grpc")", request, "/protocol/name"},
      {"protocol_version_missing", "/protocol/version", "", request, "/protocol/version"},
      {"protocol_version_major", "/protocol/version", R"("1.0.0")", "INVALID_PROTOCOL_VERSION",
       "/protocol/version"},
      {"id_missing", "/id", "", request, "/id"},
      {"id_null", "/id", "null", request, "/id"},
      {"id_number", "/id", "7", request, "/id"},
      {"id_control", "/id", R"("a\u0000b")", request, "/id"},
      {"id_empty", "/id", R"("")", request, "/id"},
      {"id_long", "/id", text_of(forrst::max_id_bytes + 1), request, "/id"},
      {"call_missing", "/call", "", request, "/call"},
      {"call_array", "/call", "[]", request, "/call"},
      {"function_missing", "/call/function", "", request, "/call/function"},
      {"function_null", "/call/function", "null", request, "/call/function"},
      {"function_empty", "/call/function", R"("")", request, "/call/function"},
      {"function_spaces", "/call/function", R"("a b")", request, "/call/function"},
      {"function_unknown", "/call/function", R"("payments.refund")", "FUNCTION_NOT_FOUND",
       "/call/function", 404},
      {"version_number", "/call/version", "1", request, "/call/version"},
      {"version_word", "/call/version", R"("newest")", request, "/call/version"},
      {"version_unknown", "/call/version", R"("9.0.0")", "VERSION_NOT_FOUND", "/call/version", 404},
      {"arguments_null", "/call/arguments", "null", request, "/call/arguments"},
      {"arguments_array", "/call/arguments", "[1]", request, "/call/arguments"},
      {"argument_missing", "/call/arguments/user_id", "", arguments, "/call/arguments/user_id"},
      {"argument_null", "/call/arguments/user_id", "null", arguments, "/call/arguments/user_id"},
      {"argument_type", "/call/arguments/amount", R"("1")", arguments, "/call/arguments/amount"},
      {"argument_range", "/call/arguments/amount", "0", arguments, "/call/arguments/amount"},
      {"context_text", "/context", R"("x")", request, "/context"},
      {"extensions_object", "/extensions", "{}", request, "/extensions"},
      {"extension_text", "/extensions/0", R"("x")", request, "/extensions/0"},
      {"urn_missing", "/extensions/0/urn", "", request, "/extensions/0/urn"},
      {"urn_number", "/extensions/0/urn", "5", request, "/extensions/0/urn"},
      {"urn_long", "/extensions/0/urn", R"("urn:)" + std::string(300, 'x') + '"', request,
       "/extensions/0/urn"},
      {"options_text", "/extensions/0/options", R"("x")", request, "/extensions/0/options"},
      {"key_missing", options + "/key", "", arguments, options + "/key"},
      {"key_null", options + "/key", "null", arguments, options + "/key"},
      {"key_number", options + "/key", "5", arguments, options + "/key"},
      {"key_empty", options + "/key", R"("")", arguments, options + "/key"},
      {"key_of_201", options + "/key", text_of(201), arguments, options + "/key"},
      {"key_meta", options + "/key", R"("a:meta:b")", arguments, options + "/key"},
      {"key_space", options + "/key", R"("a b")", arguments, options + "/key"},
      {"key_umlaut", options + "/key", R"("k\u00f6nig")", arguments, options + "/key"},
      {"ttl_missing", options + "/ttl", "", arguments, options + "/ttl"},
      {"ttl_null", options + "/ttl", "null", arguments, options + "/ttl"},
      {"ttl_number", options + "/ttl", "30", arguments, options + "/ttl"},
      {"ttl_zero", options + "/ttl/value", "0", arguments, options + "/ttl/value"},
      {"ttl_negative", options + "/ttl/value", "-1", arguments, options + "/ttl/value"},
      {"ttl_fraction", options + "/ttl/value", "1.5", arguments, options + "/ttl/value"},
      {"ttl_word", options + "/ttl/value", R"("ten")", arguments, options + "/ttl/value"},
      {"ttl_huge", options + "/ttl/value", "9223372036854775807", arguments,
       options + "/ttl/value"},
      {"ttl_over_a_day", options + "/ttl", R"({"value": 86401, "unit": "second"})", arguments,
       options + "/ttl/value"},
      {"ttl_two_days", options + "/ttl", R"({"value": 2, "unit": "day"})", arguments,
       options + "/ttl/value"},
      {"unit_plural", options + "/ttl/unit", R"("seconds")", arguments, options + "/ttl/unit"},
      {"unit_millisecond", options + "/ttl/unit", R"("millisecond")", arguments,
       options + "/ttl/unit"},
      {"unit_number", options + "/ttl/unit", "1", arguments, options + "/ttl/unit"},
      {"unit_null", options + "/ttl/unit", "null", arguments, options + "/ttl/unit"},
      {"scope_unknown", options + "/scope", R"("galaxy")", arguments, options + "/scope"},
      {"scope_null", options + "/scope", "null", arguments, options + "/scope"},
      {"block_number", options + "/block", "5", arguments, options + "/block"},
      {"block_zero", options + "/block/value", "0", arguments, options + "/block/value"},
      {"owner_number", options + "/owner", "5", arguments, options + "/owner"},
      {"owner_empty", options + "/owner", R"("")", arguments, options + "/owner"},
      {"owner_long", options + "/owner", text_of(257), arguments, options + "/owner"},
      {"auto_release_text", options + "/auto_release", R"("yes")", arguments,
       options + "/auto_release"},
      {"auto_release_null", options + "/auto_release", "null", arguments,
       options + "/auto_release"},
  };
  const auto extension = [](std::string_view urn, std::string_view with) {
    return R"({"urn": "urn:cline:forrst:ext:)" + std::string(urn) + R"(", "options": )" +
           std::string(with) + '}';
  };
  const auto add = [&](std::string name, std::string value, const std::string& place) {
    all.push_back({std::move(name), "/extensions/0", std::move(value), arguments, options + place});
  };
  add("once_without_a_key", extension("idempotency", "{}"), "/key");
  add("once_key_long", extension("idempotency", R"({"key": )" + text_of(256) + '}'), "/key");
  add("once_key_space", extension("idempotency", R"({"key": "a b"})"), "/key");
  add("once_ttl_unit",
      extension("idempotency", R"({"key": "a", "ttl": {"value": 1, "unit": "week"}})"),
      "/ttl/unit");
  add("once_ttl_zero",
      extension("idempotency", R"({"key": "a", "ttl": {"value": 0, "unit": "day"}})"),
      "/ttl/value");
  add("once_ttl_long",
      extension("idempotency", R"({"key": "a", "ttl": {"value": 31, "unit": "day"}})"),
      "/ttl/value");
  add("deadline_empty", extension("deadline", "{}"), "/value");
  add("deadline_word", extension("deadline", R"({"deadline": "soon"})"), "/deadline");
  add("deadline_day",
      extension("deadline", R"({"value": "2026-02-30T00:00:00Z", "unit": "iso8601"})"), "/value");
  add("deadline_long", extension("deadline", R"({"value": 25, "unit": "hour"})"), "/value");
  add("limit_scope", extension("rate-limit", R"({"scope": "planet"})"), "/scope");
  add("limit_scope_number", extension("rate-limit", R"({"scope": 1})"), "/scope");
  return all;
}

class BadInput : public ForrstService, public ::testing::WithParamInterface<ChangedMember> {};

TEST_P(BadInput, is_refused_at_its_place_and_nothing_is_done) {
  ASSERT_TRUE(ask_text(good).is_good());
  charges = 0;
  const auto told = ask_text(changed(GetParam()));
  EXPECT_EQ(told.status, GetParam().status) << told.raw;
  EXPECT_EQ(told.code(), GetParam().code) << told.raw;
  EXPECT_EQ(told.pointer(), GetParam().place) << told.raw;
  EXPECT_FALSE(told.message().empty());
  EXPECT_TRUE(told.body.at("result").is_null());
  EXPECT_EQ(charges, 0);
  EXPECT_TRUE(client.list()->locks.empty());
}

INSTANTIATE_TEST_SUITE_P(Members, BadInput, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

class BadBytes : public ForrstService {
 protected:
  void expect_refused(std::string_view body, std::string_view code) {
    const auto told = ask_text(body);
    EXPECT_EQ(told.status, 400) << told.raw;
    EXPECT_EQ(told.code(), code) << told.raw;
    EXPECT_TRUE(told.body.at("id").is_null() || told.body.at("id") == "r1") << told.raw;
    EXPECT_TRUE(client.list()->locks.empty());
  }
};

TEST_F(BadBytes, what_is_no_json_is_told_with_its_position) {
  const auto told = ask_text(R"({"id": "r1",})");
  EXPECT_EQ(told.code(), "PARSE_ERROR");
  EXPECT_EQ(told.error().at("source").at("position"), 12);
  EXPECT_TRUE(told.body.at("id").is_null());
}

TEST_F(BadBytes, bodies_of_every_bad_kind) {
  expect_refused("", "PARSE_ERROR");
  expect_refused("\xff\xfe", "PARSE_ERROR");
  expect_refused("{\"id\": \"\xc3\x28\"}", "PARSE_ERROR");
  expect_refused(std::string(100'000, '['), "PARSE_ERROR");
  expect_refused("[]", "INVALID_REQUEST");
  expect_refused('[' + std::string(good) + ']', "INVALID_REQUEST");
  expect_refused("7", "INVALID_REQUEST");
  expect_refused("null", "INVALID_REQUEST");
  expect_refused(R"({"jsonrpc": "2.0", "method": "payments.charge", "id": "r1"})",
                 "INVALID_REQUEST");
  expect_refused(std::string(good) + "{}", "PARSE_ERROR");
}

TEST_F(BadBytes, a_body_of_a_mebibyte_and_one_byte) {
  auto body = std::string(good);
  body.append(forrst::max_request_bytes + 1 - body.size(), ' ');
  EXPECT_EQ(ask_text(body).code(), "INVALID_REQUEST");
  body.pop_back();
  EXPECT_TRUE(ask_text(body).is_good());
}

TEST_F(BadBytes, everything_that_is_wrong_is_told_at_once) {
  const auto told = ask_text(R"({"protocol": {"name": "forrst", "version": "0.1.0"}, "id": 5,
    "call": {"function": 7, "version": false, "arguments": []}, "context": [],
    "extensions": [{"urn": 1}, 2]})");
  EXPECT_EQ(told.status, 400);
  EXPECT_EQ(told.errors(), 7U) << told.raw;
}

TEST_F(BadBytes, arguments_and_options_are_told_together) {
  Question question{.arguments = {{"amount", "much"}}};
  question.locked({{"key", ""}, {"scope", 5}});
  const auto told = ask(question);
  EXPECT_EQ(told.status, 400);
  ASSERT_EQ(told.errors(), 5U) << told.raw;
  EXPECT_EQ(told.pointer(2), "/extensions/0/options/key");
  EXPECT_EQ(told.pointer(3), "/extensions/0/options/ttl");
  EXPECT_EQ(told.pointer(4), "/extensions/0/options/scope");
}

TEST_F(BadBytes, arguments_of_the_lock_functions) {
  const auto told = [&](std::string_view name, json::object arguments) {
    const auto answer = lock_call(name, std::move(arguments));
    EXPECT_EQ(answer.status, 400) << answer.raw;
    EXPECT_EQ(answer.code(), "INVALID_ARGUMENTS") << answer.raw;
    return answer.pointer();
  };
  EXPECT_EQ(told("release", {{"owner", "a"}}), "/call/arguments/key");
  EXPECT_EQ(told("release", {{"key", ""}, {"owner", "a"}}), "/call/arguments/key");
  EXPECT_EQ(told("release", {{"key", 5}, {"owner", "a"}}), "/call/arguments/key");
  EXPECT_EQ(told("release", {{"key", "lock:x"}}), "/call/arguments/owner");
  EXPECT_EQ(told("release", {{"key", "lock:x"}, {"owner", ""}}), "/call/arguments/owner");
  EXPECT_EQ(told("release", {{"key", "x"}, {"owner", "a"}}), "/call/arguments/key");
  EXPECT_EQ(told("release", {{"key", "lock:"}, {"owner", "a"}}), "/call/arguments/key");
  EXPECT_EQ(told("release", {{"key", "lock:a:meta:owner"}, {"owner", "a"}}), "/call/arguments/key");
  EXPECT_EQ(told("release", {{"key", "lock:a b"}, {"owner", "a"}}), "/call/arguments/key");
  EXPECT_EQ(told("status", {}), "/call/arguments/key");
  EXPECT_EQ(told("status", {{"key", "lock:x"}, {"owner", 7}}), "/call/arguments/owner");
  EXPECT_EQ(told("force-release", {{"key", nullptr}}), "/call/arguments/key");
  EXPECT_EQ(told("renew", {{"key", "lock:x"}, {"owner", "a"}}), "/call/arguments/ttl");
  EXPECT_EQ(told("renew", {{"key", "lock:x"}, {"owner", "a"}, {"ttl", span(0)}}),
            "/call/arguments/ttl/value");
  EXPECT_EQ(told("acquire", {{"key", "a b"}, {"ttl", span(1)}}), "/call/arguments/key");
  EXPECT_EQ(told("acquire", {{"key", "a"}, {"ttl", span(1, "weeks")}}), "/call/arguments/ttl/unit");
  EXPECT_EQ(told("acquire", {{"key", "a"}, {"ttl", span(1)}, {"scope", "x"}}),
            "/call/arguments/scope");
}

}  // namespace
}  // namespace holdfast::test
