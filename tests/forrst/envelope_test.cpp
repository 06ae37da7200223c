// SPDX-License-Identifier: Apache-2.0
#include "forrst/envelope.hpp"

#include <holdfast/forrst/function.hpp>
#include <holdfast/forrst/service.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::forrst {
namespace {

namespace json = boost::json;

constexpr std::string_view protocol = R"("protocol":{"name":"forrst","version":"0.1.0"})";

// A request that is right but for its call or what is beside it.
std::string with_call(std::string_view call) {
  return fmt::format(R"({{{},"id":"r1","call":{}}})", protocol, call);
}

std::string with(std::string_view members) {
  return fmt::format(R"({{{},"id":"r1","call":{{"function":"a.b"}},{}}})", protocol, members);
}

std::string with_protocol(std::string_view value) {
  return fmt::format(R"({{"protocol":{},"id":"r1","call":{{"function":"a.b"}}}})", value);
}

Envelope read(std::string_view body) {
  auto parsed = parse_envelope(body);
  if (parsed) return std::move(*parsed);
  ADD_FAILURE() << body << ": " << parsed.error().faults.at(0).message;
  return {};
}

Refusal refusal(std::string_view body) {
  auto parsed = parse_envelope(body);
  EXPECT_FALSE(parsed) << body;
  return parsed ? Refusal{} : std::move(parsed.error());
}

// The one fault of a request that has one.
Fault fault_of(std::string_view body) {
  auto refused = refusal(body);
  EXPECT_EQ(refused.faults.size(), 1U) << body;
  return refused.faults.empty() ? Fault{} : refused.faults.front();
}

struct RefusedEnvelope {
  std::string body;
  std::string pointer;
  std::string message;
};

void expect_refused(const std::vector<RefusedEnvelope>& cases) {
  for (const auto& [body, pointer, message] : cases) {
    const auto fault = fault_of(body);
    EXPECT_EQ(fault.code, "INVALID_REQUEST") << body;
    EXPECT_EQ(fault.pointer, pointer) << body;
    EXPECT_FALSE(fault.position) << body;
    EXPECT_EQ(fault.message, message) << body;
  }
}

TEST(Envelope, has_all_that_a_request_says) {
  const auto envelope = read(R"({
    "protocol": {"name": "forrst", "version": "0.1.0", "more": 1},
    "id": "req_001",
    "call": {"function": "payments.charge", "version": "1.0.0", "arguments": {"amount": 100}},
    "context": {"caller": "shop"},
    "extensions": [
      {"urn": "urn:forrst:ext:atomicLock",
       "options": {"key": "user:123", "ttl": {"value": 30, "unit": "second"}}},
      {"urn": "urn:acme:other"}],
    "unknown": null})");
  EXPECT_EQ(envelope.id, "req_001");
  EXPECT_EQ(envelope.function, "payments.charge");
  EXPECT_EQ(envelope.version, "1.0.0");
  EXPECT_EQ(json::serialize(envelope.arguments), R"({"amount":100})");
  EXPECT_EQ(json::serialize(envelope.context), R"({"caller":"shop"})");
  ASSERT_EQ(envelope.extensions.size(), 2U);
  EXPECT_EQ(envelope.extensions[0].urn, "urn:forrst:ext:atomicLock");
  EXPECT_EQ(json::serialize(envelope.extensions[0].options),
            R"({"key":"user:123","ttl":{"value":30,"unit":"second"}})");
  EXPECT_EQ(envelope.extensions[1].urn, "urn:acme:other");
  EXPECT_TRUE(envelope.extensions[1].options.empty());
}

TEST(Envelope, needs_no_more_than_a_protocol_an_id_and_a_function) {
  const auto envelope = read(with_call(R"({"function":"urn:cline:forrst:fn:ping"})"));
  EXPECT_EQ(envelope.function, "urn:cline:forrst:fn:ping");
  EXPECT_FALSE(envelope.version);
  EXPECT_TRUE(envelope.arguments.empty());
  EXPECT_TRUE(envelope.context.empty());
  EXPECT_TRUE(envelope.extensions.empty());
  EXPECT_TRUE(read(with(R"("extensions":[])")).extensions.empty());
}

TEST(Envelope, any_minor_version_of_the_protocol_will_do) {
  for (const auto* version : {"0.1.0", "0.1.7", "0.2.0", "0.99.1", "0.1.0-beta.1", "0.1.0+x"}) {
    read(with_protocol(fmt::format(R"({{"name":"forrst","version":"{}"}})", version)));
  }
}

TEST(Envelope, another_version_of_the_protocol_is_refused_with_those_that_would_do) {
  for (const std::string version : {"1.0.0", "2.1.0", "", "0.1", "0", "v0.1.0", "latest"}) {
    const auto fault =
        fault_of(with_protocol(fmt::format(R"({{"name":"forrst","version":"{}"}})", version)));
    EXPECT_EQ(fault.code, "INVALID_PROTOCOL_VERSION") << version;
    EXPECT_EQ(fault.message, "Unsupported protocol version: " + version);
    EXPECT_EQ(fault.pointer, "/protocol/version");
    EXPECT_EQ(json::serialize(fault.details),
              fmt::format(R"({{"requested":"{}","supported":["0.1.0"]}})", version));
  }
  const auto long_one = fault_of(with_protocol(
      fmt::format(R"({{"name":"forrst","version":"{}"}})", std::string(100'000, '1'))));
  EXPECT_LT(long_one.message.size(), 200U);
  EXPECT_LT(json::serialize(long_one.details).size(), 200U);
}

TEST(Envelope, what_is_no_json_is_refused_with_the_byte) {
  struct Broken {
    std::string body;
    std::uint64_t position;
    std::string message;
  };
  const std::string start = "The request is not strict JSON: ";
  const std::vector<Broken> cases{
      {"", 0, "The request is empty"},
      {"  ", 2, start + "the text ends too early"},
      {"{", 1, start + "the text ends too early"},
      {"hello", 0, start + "a value is missing"},
      {R"({"id":"x",})", 10, start + "a key in quotes is missing"},
      {R"({"id":"x})", 9, start + "the text ends too early"},
      {R"({"id" "x"})", 6, start + "':' is missing"},
      {R"({"id":"x"}})", 10, start + "more than one value"},
      {"{\"id\":\"\xff\"}", 7, start + "a byte that is not UTF-8"},
      {R"({"id":"x","id":"y"})", 10, start + "the same key twice in one object"},
      {R"({"id":1e999})", 6, start + "a number that is out of range"},
      {std::string(max_request_depth + 1, '['), max_request_depth,
       start + "nested deeper than 64 levels"},
      {std::string(max_request_bytes, '['), max_request_depth,
       start + "nested deeper than 64 levels"},
  };
  for (const auto& [body, position, message] : cases) {
    const auto shown = body.substr(0, 80);
    const auto refused = refusal(body);
    EXPECT_FALSE(refused.id) << shown;
    ASSERT_EQ(refused.faults.size(), 1U) << shown;
    const auto& fault = refused.faults[0];
    EXPECT_EQ(fault.code, "PARSE_ERROR") << shown;
    EXPECT_EQ(fault.position, position) << shown;
    EXPECT_FALSE(fault.pointer) << shown;
    EXPECT_EQ(fault.message, message) << shown;
  }
}

TEST(Envelope, what_is_json_and_no_single_request_is_refused) {
  const std::string batch = "Batches are not supported: send one request, as an object";
  const std::string no_object = "The request must be a JSON object";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"[]", batch},       {"[" + with_call(R"({"function":"a.b"})") + "]", batch},
      {"null", no_object}, {"\"x\"", no_object},
      {"5", no_object},    {"true", no_object},
  };
  for (const auto& [body, message] : cases) {
    const auto fault = fault_of(body);
    EXPECT_EQ(fault.code, "INVALID_REQUEST") << body;
    EXPECT_EQ(fault.message, message) << body;
    EXPECT_FALSE(fault.pointer) << body;
    EXPECT_FALSE(refusal(body).id) << body;
  }
}

TEST(Envelope, a_request_of_json_rpc_is_told_so) {
  const auto refused = refusal(R"({"jsonrpc":"2.0","id":"7","method":"a.b","params":{}})");
  ASSERT_EQ(refused.faults.size(), 1U);
  EXPECT_EQ(refused.faults[0].code, "INVALID_REQUEST");
  EXPECT_EQ(refused.faults[0].pointer, "/jsonrpc");
  EXPECT_EQ(refused.faults[0].message,
            "JSON-RPC is not supported: send protocol, id and call of Forrst");
  EXPECT_EQ(refused.id, "7");
  EXPECT_FALSE(refusal(R"({"jsonrpc":"2.0","id":7,"method":"a.b"})").id);
}

TEST(Envelope, the_protocol_is_an_object_with_its_name_and_version) {
  expect_refused({
      {R"({"id":"r1","call":{"function":"a.b"}})", "/protocol", "protocol is required"},
      {with_protocol("null"), "/protocol", "protocol must be an object, not null"},
      {with_protocol("\"forrst/0.1\""), "/protocol", "protocol must be an object"},
      {with_protocol(R"({"version":"0.1.0"})"), "/protocol/name", "protocol.name is required"},
      {with_protocol(R"({"name":1,"version":"0.1.0"})"), "/protocol/name",
       "protocol.name must be a string"},
      {with_protocol(R"({"name":"Forrst","version":"0.1.0"})"), "/protocol/name",
       "protocol.name must be \"forrst\""},
      {with_protocol(R"({"name":"forrst"})"), "/protocol/version", "protocol.version is required"},
      {with_protocol(R"({"name":"forrst","version":0.1})"), "/protocol/version",
       "protocol.version must be a string"},
      {with_protocol(R"({"name":"forrst","version":null})"), "/protocol/version",
       "protocol.version must be a string, not null"},
  });
}

TEST(Envelope, the_id_is_a_text_that_is_not_empty) {
  const auto with_id = [](std::string_view member) {
    return fmt::format(R"({{{}{},"call":{{"function":"a.b"}}}})", protocol, member);
  };
  const auto id_of = [](std::size_t size) {
    return fmt::format(R"(,"id":"{}")", std::string(size, 'x'));
  };
  const std::vector<RefusedEnvelope> cases{
      {with_id(""), "/id", "id is required"},
      {with_id(R"(,"id":null)"), "/id", "id must be a string, not null"},
      {with_id(R"(,"id":7)"), "/id", "id must be a string"},
      {with_id(R"(,"id":{})"), "/id", "id must be a string"},
      {with_id(R"(,"id":"")"), "/id", "id must not be empty"},
      {with_id(id_of(max_id_bytes + 1)), "/id", "id must be at most 255 bytes long"},
  };
  expect_refused(cases);
  for (const auto& each : cases) EXPECT_FALSE(refusal(each.body).id) << each.body;
  EXPECT_EQ(read(with_id(id_of(max_id_bytes))).id.size(), max_id_bytes);
}

TEST(Envelope, the_call_names_a_function) {
  const std::string shape =
      "call.function must be words with dots between them or a URN of the protocol, of at most 200 "
      "bytes";
  const auto function = [](std::string_view name) {
    return with_call(fmt::format(R"({{"function":"{}"}})", name));
  };
  expect_refused({
      {fmt::format(R"({{{},"id":"r1"}})", protocol), "/call", "call is required"},
      {with_call("null"), "/call", "call must be an object, not null"},
      {with_call("[]"), "/call", "call must be an object"},
      {with_call("{}"), "/call/function", "call.function is required"},
      {with_call(R"({"function":null})"), "/call/function",
       "call.function must be a string, not null"},
      {with_call(R"({"function":5})"), "/call/function", "call.function must be a string"},
      {function(""), "/call/function", "call.function must not be empty"},
      {function("a b"), "/call/function", shape},
      {function("a..b"), "/call/function", shape},
      {function("urn:nothing"), "/call/function", shape},
      {function("a\\u0000"), "/call/function", shape},
      {function(std::string(max_function_bytes + 1, 'a')), "/call/function", shape},
  });
}

TEST(Envelope, what_may_be_left_out_may_not_be_null) {
  const std::string hint = ", not null; leave it out if there is none";
  const std::string semantic = "call.version must be a semantic version, such as 1.0.0";
  expect_refused({
      {with_call(R"({"function":"a.b","version":null})"), "/call/version",
       "call.version must be a string" + hint},
      {with_call(R"({"function":"a.b","version":1})"), "/call/version",
       "call.version must be a string"},
      {with_call(R"({"function":"a.b","version":"1.0"})"), "/call/version", semantic},
      {with_call(R"({"function":"a.b","version":""})"), "/call/version", semantic},
      {with_call(R"({"function":"a.b","version":"stable"})"), "/call/version", semantic},
      {with_call(R"({"function":"a.b","arguments":null})"), "/call/arguments",
       "call.arguments must be an object" + hint},
      {with_call(R"({"function":"a.b","arguments":[]})"), "/call/arguments",
       "call.arguments must be an object"},
      {with(R"("context":null)"), "/context", "context must be an object" + hint},
      {with(R"("context":"x")"), "/context", "context must be an object"},
      {with(R"("extensions":null)"), "/extensions", "extensions must be an array" + hint},
      {with(R"("extensions":{})"), "/extensions", "extensions must be an array"},
      {with(R"("extensions":[{"urn":"urn:x","options":null}])"), "/extensions/0/options",
       "extensions.0.options must be an object" + hint},
  });
}

std::string nested_options(std::size_t depth) {
  std::string options = "1";
  for (std::size_t i = 0; i < depth; ++i) options = "{\"a\":" + options + "}";
  return with(R"("extensions":[{"urn":"urn:x","options":)" + options + "}]");
}

std::string long_options(std::size_t bytes) {
  const auto filler = std::string(bytes - std::string_view(R"({"a":""})").size(), 'x');
  return with(R"("extensions":[{"urn":"urn:x","options":{"a":")" + filler + "\"}}]");
}

std::string many_extensions(std::size_t count, std::string_view one) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all.append(i == 0 ? "" : ",").append(one);
  return with("\"extensions\":[" + all + "]");
}

TEST(Envelope, an_extension_has_a_urn_and_options) {
  const std::string shape = "extensions.0.urn must be a URN, such as urn:forrst:ext:atomicLock";
  const auto urn = [](std::size_t size) {
    return with(R"("extensions":[{"urn":"urn:)" + std::string(size - 4, 'x') + "\"}]");
  };
  expect_refused({
      {with(R"("extensions":["urn:x"])"), "/extensions/0", "extensions.0 must be an object"},
      {with(R"("extensions":[{"urn":"urn:x"},null])"), "/extensions/1",
       "extensions.1 must be an object, not null"},
      {with(R"("extensions":[{}])"), "/extensions/0/urn", "extensions.0.urn is required"},
      {with(R"("extensions":[{"urn":5}])"), "/extensions/0/urn",
       "extensions.0.urn must be a string"},
      {with(R"("extensions":[{"urn":""}])"), "/extensions/0/urn", shape},
      {with(R"("extensions":[{"urn":"urn:"}])"), "/extensions/0/urn", shape},
      {with(R"("extensions":[{"urn":"atomic-lock"}])"), "/extensions/0/urn", shape},
      {urn(max_urn_bytes + 1), "/extensions/0/urn",
       "extensions.0.urn must be at most 255 bytes long"},
      {with(R"("extensions":[{"urn":"urn:x","options":[]}])"), "/extensions/0/options",
       "extensions.0.options must be an object"},
      {nested_options(max_options_depth + 1), "/extensions/0/options",
       "extensions.0.options must be at most 5 levels deep"},
      {long_options(max_options_bytes + 1), "/extensions/0/options",
       "extensions.0.options must be at most 65536 bytes long"},
      {many_extensions(max_extensions + 1, R"({"urn":"urn:x"})"), "/extensions",
       "extensions must have at most 50 elements"},
  });
  read(urn(max_urn_bytes));
  read(nested_options(max_options_depth));
  read(long_options(max_options_bytes));
  EXPECT_EQ(read(many_extensions(max_extensions, R"({"urn":"urn:x"})")).extensions.size(),
            max_extensions);
}

TEST(Envelope, all_that_is_wrong_is_told_at_once_with_the_id_if_there_is_one) {
  const auto refused = refusal(R"({"protocol":{"name":"x","version":"9.0.0"},"id":"r9",
    "call":{"version":"x","arguments":1},"context":1,"extensions":[{"options":1}]})");
  EXPECT_EQ(refused.id, "r9");
  std::vector<std::string> places;
  for (const auto& fault : refused.faults)
    places.push_back(fault.code + fault.pointer.value_or(""));
  EXPECT_EQ(places,
            (std::vector<std::string>{
                "INVALID_REQUEST/protocol/name", "INVALID_PROTOCOL_VERSION/protocol/version",
                "INVALID_REQUEST/call/function", "INVALID_REQUEST/call/version",
                "INVALID_REQUEST/call/arguments", "INVALID_REQUEST/context",
                "INVALID_REQUEST/extensions/0/urn", "INVALID_REQUEST/extensions/0/options"}));
  EXPECT_EQ(refusal("{}").faults.size(), 3U);
}

TEST(Envelope, no_more_is_told_than_the_limit_of_faults) {
  auto body = many_extensions(max_extensions, R"({"urn":1,"options":1})");
  body.replace(body.find("\"r1\""), 4, "5");
  const auto refused = refusal(body);
  EXPECT_EQ(refused.faults.size(), max_faults);
  EXPECT_EQ(refused.faults.front().pointer, "/id");
}

TEST(Envelope, a_request_has_a_longest_length) {
  const auto request = with_call(R"({"function":"a.b"})");
  const auto longest = request + std::string(max_request_bytes - request.size(), ' ');
  EXPECT_EQ(read(longest).id, "r1");
  const auto fault = fault_of(longest + " ");
  EXPECT_EQ(fault.code, "INVALID_REQUEST");
  EXPECT_EQ(fault.message, "The request must be at most 1048576 bytes long; it has 1048577");
}

TEST(Envelope, a_pointer_escapes_what_has_a_meaning_in_it) {
  EXPECT_EQ(pointer_to("/call/arguments", "a"), "/call/arguments/a");
  EXPECT_EQ(pointer_to("/call/arguments", "a/b"), "/call/arguments/a~1b");
  EXPECT_EQ(pointer_to("", "m~n~1"), "/m~0n~01");
  EXPECT_EQ(pointer_to("/x", ""), "/x/");
}

}  // namespace
}  // namespace holdfast::forrst
