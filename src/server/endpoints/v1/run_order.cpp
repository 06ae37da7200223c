// SPDX-License-Identifier: Apache-2.0
#include "server/endpoints/v1/run_order.hpp"

#include "server/http/fields.hpp"
#include "server/services.hpp"
#include "text/base64.hpp"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include <utility>

namespace holdfast::server {

namespace {

namespace json = boost::json;
using RunVerb = model::RunCommand::Verb;

constexpr std::size_t max_take_over_bytes = 64;
constexpr std::size_t max_method_bytes = 64;
constexpr std::size_t max_path_bytes = 16 * 1024;
constexpr std::uint64_t min_status = 100;
constexpr std::uint64_t max_status = 599;

// Any value at all, so it is taken out before the fields are read. Null is the same as none.
std::optional<json::value> take(json::object& body, std::string_view name) {
  auto* const found = body.if_contains({name.data(), name.size()});
  if (found == nullptr) return std::nullopt;
  auto value = std::move(*found);
  body.erase({name.data(), name.size()});
  if (value.is_null()) return std::nullopt;
  return value;
}

// `request` is spared by those who have a fingerprint of their own.
Result<std::string> fingerprint_of(json::object request) {
  const auto body = take(request, "body");
  const auto query = take(request, "query");
  Fields fields(request, "request.");
  const auto method = fields.text("method", max_method_bytes);
  const auto path = fields.text("path", max_path_bytes);
  if (auto good = fields.done(); !good) return std::unexpected(std::move(good.error()));
  const auto body_text = body ? json::serialize(*body) : std::string();
  const auto query_text = query ? json::serialize(*query) : std::string();
  RequestParts parts{.method = method, .path = path};
  if (body) parts.body = body_text;
  if (query) parts.query = query_text;
  auto fingerprint = request_fingerprint(parts);
  if (fingerprint) return fingerprint;
  return fail(Errc::bad_input, "request: " + fingerprint.error().message);
}

std::optional<TakeOver> read_take_over(Fields& fields) {
  const auto word = fields.text("take_over", max_take_over_bytes);
  if (!word) return std::nullopt;
  if (*word == "run") return TakeOver::run;
  if (*word == "refuse") return TakeOver::refuse;
  fields.refuse("take_over", "must be run or refuse");
  return std::nullopt;
}

// {"status", "headers", "body"} or {"result"}, taken out of the body of the request.
struct Parts {
  std::optional<json::value> result;
  std::optional<json::value> headers;
  std::optional<json::value> body;
  std::optional<json::value> body_base64;

  explicit Parts(json::object& from)
      : result(take(from, "result")),
        headers(take(from, "headers")),
        body(take(from, "body")),
        body_base64(take(from, "body_base64")) {}
};

std::string headers_text(const json::value& headers, Fields& fields) {
  const auto* const object = headers.if_object();
  if (object == nullptr) {
    fields.refuse("headers", "must be an object");
    return {};
  }
  for (const auto& each : *object) {
    if (each.value().is_string()) continue;
    fields.refuse(fmt::format("headers.{}", std::string_view(each.key())), "must be a string");
  }
  return object->empty() ? std::string() : json::serialize(*object);
}

std::string body_text(const Parts& parts, Fields& fields) {
  if (parts.body && parts.body_base64) {
    fields.refuse("body_base64", "must not be given together with body");
  }
  if (parts.body) {
    const auto* const text = parts.body->if_string();
    return text != nullptr ? std::string(*text) : json::serialize(*parts.body);
  }
  if (!parts.body_base64) return {};
  const auto* const written = parts.body_base64->if_string();
  auto bytes = written != nullptr ? text::from_base64(*written) : std::nullopt;
  if (!bytes) fields.refuse("body_base64", "must be a string in base64, with padding");
  return std::move(bytes).value_or("");
}

Answer read_answer(const Parts& parts, Fields& fields) {
  const auto status = fields.number("status", min_status, max_status);
  const bool has_parts = status || parts.headers || parts.body || parts.body_base64;
  if (parts.result && has_parts) {
    fields.refuse("result", "must not be given together with status, headers and body");
  }
  Answer answer{.status = static_cast<std::uint16_t>(status.value_or(200))};
  if (parts.headers) answer.headers = headers_text(*parts.headers, fields);
  answer.body = parts.result ? json::serialize(*parts.result) : body_text(parts, fields);
  return answer;
}

Micros ttl_from(Fields& fields) {
  return fields.duration("ttl", min_answer_ttl, max_answer_ttl).value_or(default_answer_ttl);
}

Micros guard_from(Fields& fields) {
  return fields.duration("guard", min_guard, max_guard).value_or(default_guard);
}

// What each verb takes beside the owner.
model::RunCommand read_command(RunVerb verb, const Parts& parts, Fields& fields) {
  model::RunCommand command{.verb = verb};
  command.owner = fields.needed_text("owner", max_owner_bytes);
  if (verb == RunVerb::renew) command.guard = guard_from(fields);
  if (verb == RunVerb::complete) {
    command.fingerprint = fields.text("fingerprint", max_fingerprint_bytes).value_or("");
    command.keep = ttl_from(fields);
    command.answer = read_answer(parts, fields);
  }
  if (verb == RunVerb::fail) {
    command.failure = fields.needed_text("error", max_failure_bytes);
    command.keep = fields.duration("keep_failure", Duration::zero(), max_answer_ttl)
                       .value_or(default_keep_failure);
  }
  return command;
}

}  // namespace

Result<BeginOrder> parse_begin(const Call& call) {
  auto name = recipes::run_name(call.parameters[0]);
  if (!name) return std::unexpected(std::move(name.error()));
  const auto body = call.body();
  if (!body) return std::unexpected(body.error());
  Fields fields(*body);
  const auto given = fields.text("fingerprint", max_fingerprint_bytes);
  const auto* const request = fields.object("request");
  if (given && request != nullptr) {
    fields.refuse("fingerprint", "must not be given together with request");
  }
  const auto ttl = ttl_from(fields);
  const auto guard = guard_from(fields);
  const auto wait = fields.duration("wait", Duration::zero(), max_wait).value_or(Duration::zero());
  const auto take_over = read_take_over(fields).value_or(TakeOver::run);
  const auto owner = fields.text("owner", max_owner_bytes);
  if (auto good = fields.done(); !good) return std::unexpected(std::move(good.error()));
  auto fingerprint =
      request != nullptr ? fingerprint_of(*request) : Result<std::string>(given.value_or(""));
  if (!fingerprint) return std::unexpected(std::move(fingerprint.error()));
  auto terms = recipes::make_terms(call.services.core(), {.fingerprint = *fingerprint,
                                                          .ttl = ttl,
                                                          .wait = wait,
                                                          .guard = guard,
                                                          .take_over = take_over});
  if (!terms) return std::unexpected(std::move(terms.error()));
  if (owner) terms->owner = *owner;
  terms->is_owner_known = owner.has_value();
  if (auto good = model::admissible(terms->begin()); !good) {
    return std::unexpected(std::move(good.error()));
  }
  return BeginOrder{std::move(*name), std::move(*terms), wait};
}

Result<Word> parse_word(const Call& call, RunVerb verb) {
  auto name = recipes::run_name(call.parameters[0]);
  if (!name) return std::unexpected(std::move(name.error()));
  auto body = call.body();
  if (!body) return std::unexpected(std::move(body.error()));
  json::object nothing;
  const Parts parts(verb == RunVerb::complete ? *body : nothing);
  Fields fields(*body);
  auto command = read_command(verb, parts, fields);
  if (auto good = fields.done(); !good) return std::unexpected(std::move(good.error()));
  if (auto good = model::admissible(command); !good) {
    return std::unexpected(std::move(good.error()));
  }
  return Word{std::move(*name), std::move(command)};
}

}  // namespace holdfast::server
