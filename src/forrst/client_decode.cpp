// SPDX-License-Identifier: Apache-2.0
#include "forrst/client_decode.hpp"

#include "forrst/envelope.hpp"
#include "forrst/version.hpp"
#include "text/json_parse.hpp"
#include "text/quote.hpp"

#include <fmt/format.h>

namespace holdfast::forrst {

namespace {

namespace json = boost::json;

template <typename T>
using Read = std::expected<T, std::string>;

// What the reference server allows itself.
constexpr std::size_t max_answer_depth = 512;

std::unexpected<std::string> wrong(std::string what) { return std::unexpected(std::move(what)); }

const json::string* text_in(const json::object& object, std::string_view member) {
  const auto* const found = object.if_contains(member);
  return found != nullptr ? found->if_string() : nullptr;
}

// PHP writes an object without members as a list without elements.
Read<json::object> object_in(const json::object& from, std::string_view member) {
  const auto* const found = from.if_contains(member);
  if (found == nullptr) return json::object();
  if (const auto* const object = found->if_object()) return *object;
  const auto* const list = found->if_array();
  if (list != nullptr && list->empty()) return json::object();
  return wrong(fmt::format("`{}` is no object", member));
}

Read<void> check_protocol(const json::object& body) {
  const auto* const protocol = body.if_contains("protocol");
  const auto* const object = protocol != nullptr ? protocol->if_object() : nullptr;
  if (object == nullptr) return wrong("`protocol` is missing");
  const auto* const name = text_in(*object, "name");
  if (name == nullptr || *name != protocol_name) return wrong("`protocol.name` is not forrst");
  const auto* const version = text_in(*object, "version");
  const auto parsed = version != nullptr ? Version::parse(*version) : std::nullopt;
  const auto ours = Version::parse(protocol_version);
  if (!parsed || parsed->major() != ours->major()) {
    return wrong(fmt::format("`protocol.version` is none that goes with {}", protocol_version));
  }
  return {};
}

Read<void> read_source(const json::object& error, Fault& fault) {
  const auto* const source = error.if_contains("source");
  if (source == nullptr) return {};
  const auto* const object = source->if_object();
  if (object == nullptr) return wrong("`source` of an error is no object");
  const auto* const pointer = object->if_contains("pointer");
  const auto* const position = object->if_contains("position");
  if (pointer != nullptr && position != nullptr) {
    return wrong("`source` of an error has both `pointer` and `position`");
  }
  if (pointer != nullptr) {
    if (!pointer->is_string()) return wrong("`pointer` of an error is no text");
    fault.pointer = std::string(pointer->get_string());
  }
  if (position != nullptr) {
    json::error_code failed;
    const auto number = position->to_number<std::uint64_t>(failed);
    if (failed) return wrong("`position` of an error is no count of bytes");
    fault.position = number;
  }
  return {};
}

Read<Fault> read_fault(const json::value& value) {
  const auto* const object = value.if_object();
  if (object == nullptr) return wrong("an error is no object");
  const auto* const code = text_in(*object, "code");
  const auto* const message = text_in(*object, "message");
  if (code == nullptr || code->empty()) return wrong("an error has no `code`");
  if (message == nullptr) return wrong("an error has no `message`");
  Fault fault{.code = std::string(*code), .message = std::string(*message)};
  if (auto good = read_source(*object, fault); !good) return wrong(std::move(good.error()));
  const auto* const details = object->if_contains("details");
  if (details != nullptr && details->is_array() && !details->get_array().empty()) {
    // The reference server lists what is wrong with a request.
    fault.details.emplace("details", *details);
    return fault;
  }
  auto read = object_in(*object, "details");
  if (!read) return wrong(std::move(read.error()));
  fault.details = std::move(*read);
  return fault;
}

Read<void> read_outcome(json::object& body, CallReply& reply) {
  auto* const result = body.if_contains("result");
  if (result == nullptr) return wrong("`result` is missing");
  const auto* const errors = body.if_contains("errors");
  if (errors == nullptr) {
    reply.result = std::move(*result);
    return {};
  }
  const auto* const list = errors->if_array();
  if (list == nullptr || list->empty()) return wrong("`errors` is no list of errors");
  if (!result->is_null()) return wrong("there is a `result` beside `errors`");
  for (const auto& each : *list) {
    auto fault = read_fault(each);
    if (!fault) return wrong(std::move(fault.error()));
    reply.faults.push_back(std::move(*fault));
  }
  return {};
}

Read<void> read_extensions(const json::object& body, CallReply& reply) {
  const auto* const extensions = body.if_contains("extensions");
  if (extensions == nullptr) return {};
  const auto* const list = extensions->if_array();
  if (list == nullptr) return wrong("`extensions` is no list");
  for (const auto& each : *list) {
    const auto* const object = each.if_object();
    const auto* const urn = object != nullptr ? text_in(*object, "urn") : nullptr;
    if (urn == nullptr || urn->empty()) return wrong("an extension has no `urn`");
    auto data = object_in(*object, "data");
    if (!data) return wrong(fmt::format("`data` of {} is no object", text::quoted(*urn)));
    reply.extensions.push_back({.urn = std::string(*urn), .options = std::move(*data)});
  }
  return {};
}

// Only a server that could not read the request leaves its id out.
Read<void> read_id(const json::object& body, std::string_view id, CallReply& reply) {
  const auto* const found = body.if_contains("id");
  if (found == nullptr) return wrong("`id` is missing");
  if (found->is_null() && !reply.faults.empty()) return {};
  const auto* const text = found->if_string();
  if (text == nullptr || *text != id) return wrong("`id` is not that of the request");
  reply.id = std::string(id);
  return {};
}

// Refused before anybody acted on it: redirections, and what is the caller's fault. Not 408 and
// 499, which say that somebody gave up.
bool did_nothing(int status) {
  return status >= 300 && status < 500 && status != 408 && status != 499;
}

}  // namespace

std::expected<CallReply, std::string> decode_reply(std::string_view body, std::string_view id) {
  auto parsed = text::parse_json_at(body, max_answer_depth);
  if (!parsed) {
    return wrong(fmt::format("it is no JSON: {} at byte {}", parsed.error().message,
                             parsed.error().position));
  }
  auto* const object = parsed->if_object();
  if (object == nullptr) return wrong("it is no object");
  CallReply reply;
  auto good = check_protocol(*object);
  if (good) good = read_outcome(*object, reply);
  if (good) good = read_id(*object, id, reply);
  if (good) good = read_extensions(*object, reply);
  if (!good) return wrong(std::move(good.error()));
  auto meta = object_in(*object, "meta");
  if (!meta) return wrong(std::move(meta.error()));
  reply.meta = std::move(*meta);
  return reply;
}

Error unreadable(const Answer& answer, std::string_view peer, std::string_view why) {
  if (answer.status == 0) {
    return {Errc::outcome_unknown, fmt::format("{}: the answer is none of Forrst: {}", peer, why)};
  }
  // What speaks of the protocol may come from a function that ran.
  const bool is_foreign = !answer.body.contains("\"protocol\"");
  return {
      is_foreign && did_nothing(answer.status) ? Errc::unavailable : Errc::outcome_unknown,
      fmt::format("{}: the answer (status {}) is none of Forrst: {}", peer, answer.status, why)};
}

}  // namespace holdfast::forrst
