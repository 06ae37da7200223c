// SPDX-License-Identifier: Apache-2.0
#include "forrst/envelope.hpp"

#include <holdfast/forrst/service.hpp>

#include "forrst/urn.hpp"
#include "forrst/version.hpp"
#include "model/utf8.hpp"
#include "text/json_parse.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace holdfast::forrst {

namespace {

namespace json = boost::json;

enum class Need : std::uint8_t { required, optional };

std::string_view view(const json::string& text) { return {text.data(), text.size()}; }

// "/call/function" as "call.function", for people.
std::string dotted(std::string_view pointer) {
  std::string name(pointer.substr(1));
  std::ranges::replace(name, '/', '.');
  return name;
}

std::size_t depth_of(const json::value& value) {
  std::size_t deepest = 0;
  if (const auto* array = value.if_array()) {
    for (const auto& each : *array) deepest = std::max(deepest, depth_of(each));
    return deepest + 1;
  }
  if (const auto* object = value.if_object()) {
    for (const auto& each : *object) deepest = std::max(deepest, depth_of(each.value()));
    return deepest + 1;
  }
  return 0;
}

Fault unsupported_version(std::string_view requested) {
  // It is told back, and may be as long as the request.
  const auto shown = model::mended(requested, max_version_bytes);
  return {
      .code = std::string(codes::invalid_protocol_version),
      .message = fmt::format("Unsupported protocol version: {}", shown),
      .pointer = "/protocol/version",
      .details = {{"requested", shown}, {"supported", json::array{for_json(protocol_version)}}}};
}

Fault invalid_request(std::string message) {
  return {.code = std::string(codes::invalid_request), .message = std::move(message)};
}

std::unexpected<Refusal> refusal(Fault fault) {
  Refusal refused;
  refused.faults.push_back(std::move(fault));
  return std::unexpected(std::move(refused));
}

// Takes a request apart, and goes on behind each fault to find the next one.
class Reading {
 public:
  explicit Reading(json::object& request) : request_(request) {}

  std::expected<Envelope, Refusal> read();

 private:
  void refuse(Fault fault) {
    if (faults_.size() < max_faults) faults_.push_back(std::move(fault));
  }
  void refuse(std::string_view pointer, std::string_view rule) {
    auto fault = invalid_request(fmt::format("{} {}", dotted(pointer), rule));
    fault.pointer = pointer;
    refuse(std::move(fault));
  }

  json::value* find(json::object& parent, std::string_view pointer, Need need);
  json::object* object(json::object& parent, std::string_view pointer, Need need);
  json::string* text(json::object& parent, std::string_view pointer, Need need);
  void refuse_type(std::string_view pointer, const json::value& value, Need need,
                   std::string_view type);

  void read_protocol();
  void read_id();
  void read_call();
  void read_function(json::object& call);
  void read_extensions();
  void read_extension(json::value& value, const std::string& pointer);
  void check_options(const json::object& options, std::string_view pointer);

  json::object& request_;
  Envelope envelope_;
  std::vector<Fault> faults_;
};

// The last step of the pointer is the member's name; none of ours needs an escape.
json::value* Reading::find(json::object& parent, std::string_view pointer, Need need) {
  auto* value = parent.if_contains(for_json(pointer.substr(pointer.rfind('/') + 1)));
  if (value == nullptr && need == Need::required) refuse(pointer, "is required");
  return value;
}

void Reading::refuse_type(std::string_view pointer, const json::value& value, Need need,
                          std::string_view type) {
  const auto* hint = !value.is_null()         ? ""
                     : need == Need::required ? ", not null"
                                              : ", not null; leave it out if there is none";
  refuse(pointer, fmt::format("must be {}{}", type, hint));
}

json::object* Reading::object(json::object& parent, std::string_view pointer, Need need) {
  auto* value = find(parent, pointer, need);
  if (value == nullptr) return nullptr;
  auto* object = value->if_object();
  if (object == nullptr) refuse_type(pointer, *value, need, "an object");
  return object;
}

json::string* Reading::text(json::object& parent, std::string_view pointer, Need need) {
  auto* value = find(parent, pointer, need);
  if (value == nullptr) return nullptr;
  auto* text = value->if_string();
  if (text == nullptr) refuse_type(pointer, *value, need, "a string");
  return text;
}

void Reading::read_protocol() {
  auto* protocol = object(request_, "/protocol", Need::required);
  if (protocol == nullptr) return;
  const auto* name = text(*protocol, "/protocol/name", Need::required);
  if (name != nullptr && view(*name) != protocol_name) {
    refuse("/protocol/name", fmt::format("must be \"{}\"", protocol_name));
  }
  const auto* version = text(*protocol, "/protocol/version", Need::required);
  if (version == nullptr) return;
  static const auto ours = Version::parse(protocol_version);
  const auto theirs = Version::parse(view(*version));
  if (!theirs || theirs->major() != ours->major()) refuse(unsupported_version(view(*version)));
}

void Reading::read_id() {
  const auto* id = text(request_, "/id", Need::required);
  if (id == nullptr) return;
  if (id->empty()) return refuse("/id", "must not be empty");
  if (id->size() > max_id_bytes) {
    return refuse("/id", fmt::format("must be at most {} bytes long", max_id_bytes));
  }
  if (std::ranges::any_of(*id, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; })) {
    return refuse("/id", "must not have control characters");
  }
  envelope_.id = view(*id);
}

void Reading::read_call() {
  auto* call = object(request_, "/call", Need::required);
  if (call == nullptr) return;
  read_function(*call);
  if (const auto* version = text(*call, "/call/version", Need::optional)) {
    if (!Version::parse(view(*version))) {
      refuse("/call/version", "must be a semantic version, such as 1.0.0");
    }
    envelope_.version = view(*version);
  }
  if (auto* arguments = object(*call, "/call/arguments", Need::optional)) {
    envelope_.arguments = std::move(*arguments);
  }
}

void Reading::read_function(json::object& call) {
  const auto* function = text(call, "/call/function", Need::required);
  if (function == nullptr) return;
  if (function->empty()) return refuse("/call/function", "must not be empty");
  if (!is_function_name(view(*function))) {
    return refuse(
        "/call/function",
        fmt::format("must be words with dots between them or a URN of the protocol, of at "
                    "most {} bytes",
                    max_function_bytes));
  }
  envelope_.function = view(*function);
}

void Reading::read_extensions() {
  auto* value = find(request_, "/extensions", Need::optional);
  if (value == nullptr) return;
  auto* array = value->if_array();
  if (array == nullptr) return refuse_type("/extensions", *value, Need::optional, "an array");
  if (array->size() > max_extensions) {
    return refuse("/extensions", fmt::format("must have at most {} elements", max_extensions));
  }
  for (std::size_t i = 0; i < array->size(); ++i) {
    read_extension((*array)[i], fmt::format("/extensions/{}", i));
  }
}

void Reading::read_extension(json::value& value, const std::string& pointer) {
  auto* extension = value.if_object();
  if (extension == nullptr) return refuse_type(pointer, value, Need::required, "an object");
  Requested requested;
  const auto at_urn = pointer + "/urn";
  if (const auto* urn = text(*extension, at_urn, Need::required)) {
    if (urn->size() > max_urn_bytes) {
      refuse(at_urn, fmt::format("must be at most {} bytes long", max_urn_bytes));
    } else if (!view(*urn).starts_with("urn:") || urn->size() == 4) {
      refuse(at_urn, "must be a URN, such as urn:forrst:ext:atomicLock");
    } else {
      requested.urn = view(*urn);
    }
  }
  const auto at_options = pointer + "/options";
  if (auto* options = object(*extension, at_options, Need::optional)) {
    check_options(*options, at_options);
    requested.options = std::move(*options);
  }
  envelope_.extensions.push_back(std::move(requested));
}

void Reading::check_options(const json::object& options, std::string_view pointer) {
  std::size_t deepest = 0;
  for (const auto& each : options) deepest = std::max(deepest, depth_of(each.value()));
  if (deepest + 1 > max_options_depth) {
    refuse(pointer, fmt::format("must be at most {} levels deep", max_options_depth));
  }
  if (json::serialize(options).size() > max_options_bytes) {
    refuse(pointer, fmt::format("must be at most {} bytes long", max_options_bytes));
  }
}

std::expected<Envelope, Refusal> Reading::read() {
  // A whole request of another protocol would be wrong in every member.
  const bool is_json_rpc = request_.contains("jsonrpc");
  read_id();
  if (is_json_rpc) {
    faults_.clear();
    auto fault = invalid_request("JSON-RPC is not supported: send protocol, id and call of Forrst");
    fault.pointer = "/jsonrpc";
    refuse(std::move(fault));
  } else {
    read_protocol();
    read_call();
    if (auto* context = object(request_, "/context", Need::optional)) {
      envelope_.context = std::move(*context);
    }
    read_extensions();
  }
  if (faults_.empty()) return std::move(envelope_);
  Refusal refused{.id = std::nullopt, .faults = std::move(faults_)};
  if (!envelope_.id.empty()) refused.id = std::move(envelope_.id);
  return std::unexpected(std::move(refused));
}

}  // namespace

std::expected<Envelope, Refusal> parse_envelope(std::string_view body) {
  if (body.size() > max_request_bytes) {
    return refusal(invalid_request(fmt::format(
        "The request must be at most {} bytes long; it has {}", max_request_bytes, body.size())));
  }
  auto value = text::parse_json_at(body, max_request_depth);
  if (!value) {
    const auto& [position, message] = value.error();
    return refusal({.code = std::string(codes::parse_error),
                    .message = body.empty()
                                   ? "The request is empty"
                                   : fmt::format("The request is not strict JSON: {}", message),
                    .position = position});
  }
  if (value->is_array()) {
    return refusal(invalid_request("Batches are not supported: send one request, as an object"));
  }
  auto* request = value->if_object();
  if (request == nullptr) return refusal(invalid_request("The request must be a JSON object"));
  return Reading(*request).read();
}

std::string pointer_to(std::string_view parent, std::string_view member) {
  std::string pointer(parent);
  pointer += '/';
  for (const char each : member) {
    if (each == '~') {
      pointer += "~0";
    } else if (each == '/') {
      pointer += "~1";
    } else {
      pointer += each;
    }
  }
  return pointer;
}

}  // namespace holdfast::forrst
