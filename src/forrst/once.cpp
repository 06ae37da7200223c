// SPDX-License-Identifier: Apache-2.0
#include "forrst/once.hpp"

#include "forrst/duration.hpp"
#include "text/canonical_json.hpp"
#include "text/json_parse.hpp"
#include "text/sha256.hpp"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

namespace holdfast::forrst {

namespace {

namespace json = boost::json;
using std::chrono::system_clock;

// The server lets nobody but an administrator touch runs that are called so.
constexpr std::string_view record_prefix = "holdfast-server:forrst:";
constexpr Duration processing_retry = std::chrono::seconds(1);
// A function may answer deeper than it may be asked.
constexpr std::size_t max_kept_depth = 512;

// The members of an answer that are kept.
std::string body_of(const Answered& answered) {
  json::object body;
  if (answered.is_good()) {
    body["result"] = answered.result;
  } else {
    json::array errors;
    for (const auto& fault : answered.faults) errors.push_back(to_json(fault));
    body["errors"] = std::move(errors);
  }
  return json::serialize(body);
}

std::string headers_of(const Turn& turn) {
  return json::serialize(json::object{{"x-forrst-request-id", turn.envelope.id},
                                      {"x-forrst-at", time_text(system_clock::now())}});
}

Fault fault_of(std::string_view code, std::string message, const Turn& turn) {
  return {.code = std::string(code),
          .message = std::move(message),
          .details = {{"key", turn.orders.once->key}}};
}

json::object data_of(const Turn& turn, std::string_view status) {
  return {{"key", turn.orders.once->key}, {"status", status}};
}

std::string text_of(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

Fault fault_from(const json::value& value) {
  Fault fault;
  const auto* object = value.if_object();
  if (object == nullptr) return fault;
  fault.code = text_of(*object, "code");
  fault.message = text_of(*object, "message");
  if (const auto* source = object->if_contains("source");
      source != nullptr && source->is_object()) {
    if (auto pointer = text_of(source->get_object(), "pointer"); !pointer.empty()) {
      fault.pointer = std::move(pointer);
    }
  }
  if (const auto* details = object->if_contains("details"); details != nullptr) {
    if (details->is_object()) fault.details = details->get_object();
  }
  return fault;
}

// An answer that was kept here, or by another program under the same key.
bool read_kept(const Answer& answer, Answered& out) {
  auto parsed = text::parse_json_at(answer.body, max_kept_depth);
  if (!parsed || !parsed->is_object()) return false;
  auto& body = parsed->get_object();
  if (auto* result = body.if_contains("result")) {
    out.result = std::move(*result);
    return true;
  }
  const auto* errors = body.if_contains("errors");
  if (errors == nullptr || !errors->is_array() || errors->get_array().empty()) return false;
  for (const auto& error : errors->get_array()) out.faults.push_back(fault_from(error));
  return true;
}

Answered replay(const Turn& turn, const model::RunOutcome& outcome) {
  Answered answered;
  if (!read_kept(outcome.answer, answered)) {
    answered = failed(
        fault_of(codes::conflict, "It has happened, but its answer could not be kept", turn));
  }
  auto data = data_of(turn, "cached");
  const auto headers = text::parse_json(outcome.answer.headers);
  if (headers && headers->is_object()) {
    data["original_request_id"] = text_of(headers->get_object(), "x-forrst-request-id");
    data["cached_at"] = text_of(headers->get_object(), "x-forrst-at");
  }
  data["expires_at"] = time_text(system_clock::now() + outcome.remaining);
  answered.of(Extension::idempotency) = std::move(data);
  answered.headers.emplace_back("Idempotency-Replayed", "true");
  return answered;
}

}  // namespace

Effect effect_of(const Outcome& outcome) {
  if (outcome) return Effect::done;
  const auto& code = outcome.error().code;
  const bool leaves_it_open = code == codes::internal_error || code == codes::deadline_exceeded ||
                              code == codes::dependency_error || code == "CANCELLED";
  if (leaves_it_open) return Effect::unknown;
  return row_of(code).is_retryable ? Effect::none : Effect::done;
}

Result<LockName> record_name(const Turn& turn) {
  const auto& envelope = turn.envelope;
  return recipes::run_name(fmt::format(
      "{}{}", record_prefix,
      text::sha256_hex(fmt::format("{}|{}|{}|{}", turn.orders.once->key, envelope.function,
                                   envelope.version.value_or("latest"), turn.caller.subject))));
}

std::string key_for_functions(const LockName& record) {
  const auto& text = record.str();
  return text.substr(text.rfind(':') + 1);
}

Result<recipes::RunTerms> terms_of(client::Core& core, const Turn& turn) {
  const auto canonical = text::canonical_json(json::serialize(turn.arguments()));
  if (!canonical) return std::unexpected(canonical.error());
  const auto hash = "sha256:" + text::sha256_hex(*canonical);
  IdempotencyOptions options{
      .fingerprint = hash,
      .ttl = turn.orders.once->ttl,
      .keep_failure = {},
      .take_over = turn.function->function.safe_to_repeat ? TakeOver::run : TakeOver::refuse};
  return recipes::make_terms(core, options);
}

model::RunCommand last_word(const recipes::RunTerms& terms, const Turn& turn, Effect effect,
                            const Answered& answered) {
  if (effect == Effect::unknown) return terms.abandon();
  if (effect == Effect::none) return terms.fail("it did not happen");
  const int status = answered.is_good() ? 200 : row_of(answered.faults.front().code).http_status;
  Answer answer{.status = static_cast<std::uint16_t>(status),
                .headers = headers_of(turn),
                .body = body_of(answered)};
  auto word = terms.complete(answer);
  if (model::admissible(word)) return word;
  // It has happened all the same, and must not happen again.
  answer.body = R"({"not_kept":true})";
  return terms.complete(std::move(answer));
}

Answered instead_of_running(const Turn& turn, const model::RunOutcome& outcome) {
  switch (outcome.found) {
    case RunFound::completed: return replay(turn, outcome);
    case RunFound::mismatch: {
      auto answered =
          failed(fault_of(codes::idempotency_conflict,
                          "Idempotency key already used with different arguments", turn));
      answered.of(Extension::idempotency) = data_of(turn, "conflict");
      return answered;
    }
    case RunFound::in_progress: {
      auto fault = fault_of(codes::idempotency_processing,
                            "Previous request with this key is still processing", turn);
      fault.details["retry_after"] = to_json(processing_retry);
      auto answered = failed(std::move(fault));
      answered.of(Extension::idempotency) = data_of(turn, "processing");
      answered.retry_after = processing_retry;
      return answered;
    }
    default: break;
  }
  auto fault =
      fault_of(codes::conflict,
               "A request with this key began and was not heard of again: it may or may not "
               "have happened",
               turn);
  fault.details["state"] = "unknown";
  auto answered = failed(std::move(fault));
  answered.of(Extension::idempotency) = data_of(turn, "unknown");
  return answered;
}

json::object processed(const Turn& turn) {
  auto data = data_of(turn, "processed");
  data["original_request_id"] = turn.envelope.id;
  data["expires_at"] = time_text(system_clock::now() + turn.orders.once->ttl);
  return data;
}

}  // namespace holdfast::forrst
