// SPDX-License-Identifier: Apache-2.0
#include "forrst/answer.hpp"

#include "forrst/duration.hpp"
#include "forrst/retry.hpp"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace holdfast::forrst {

namespace {

namespace json = boost::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

Fault too_long() {
  return {.code = std::string(codes::internal_error),
          .message = fmt::format("The answer is longer than {} bytes", max_result_bytes)};
}

int status_of(const Answered& answered) {
  if (answered.status != 0) return answered.status;
  if (answered.faults.empty()) return 200;
  // The protocol: several errors are always 400.
  return answered.faults.size() > 1 ? 400 : row_of(answered.faults.front().code).http_status;
}

json::array extensions_of(Answered& answered, const Orders& orders) {
  json::array list;
  for (const auto& [extension, urn] : orders.asked) {
    auto& data = answered.of(extension);
    if (extension == Extension::retry && !answered.is_good()) {
      data = retry_advice(answered.faults.front().code, answered.retry_after);
    }
    if (!data) continue;
    list.push_back(json::object{{"urn", urn}, {"data", std::move(*data)}});
  }
  return list;
}

json::object meta_of(Answered& answered, const AnswerTo& to) {
  json::object meta;
  if (!to.node.empty()) meta["node"] = to.node;
  meta["duration"] =
      json::object{{"value", std::chrono::duration_cast<milliseconds>(to.took).count()},
                   {"unit", "millisecond"}};
  if (!answered.rate_limit.empty()) meta["rate_limit"] = std::move(answered.rate_limit);
  if (to.function != nullptr && to.function->deprecated) {
    json::object deprecated{{"reason", to.function->deprecated->reason}};
    if (!to.function->deprecated->sunset.empty()) {
      deprecated["sunset"] = to.function->deprecated->sunset;
    }
    meta["deprecated"] = std::move(deprecated);
  }
  return meta;
}

// An id may be any text; a header may not.
bool fits_a_header(std::string_view id) {
  return std::ranges::all_of(id, [](char c) { return c > ' ' && c < '\x7f'; });
}

// Whoever is sent away because it comes too often is always told when to come again.
Duration when_to_retry(const Answered& answered) {
  if (answered.retry_after > Duration::zero() || answered.is_good()) return answered.retry_after;
  const bool is_limit = answered.faults.front().code == codes::rate_limited;
  return is_limit ? Duration(seconds(60)) : Duration::zero();
}

void add_headers(Reply& reply, const Answered& answered, const AnswerTo& to) {
  if (to.id && fits_a_header(*to.id)) reply.headers.emplace_back("X-Forrst-Request-Id", *to.id);
  reply.headers.emplace_back(
      "X-Forrst-Duration-Ms",
      std::to_string(std::chrono::duration_cast<milliseconds>(to.took).count()));
  if (!to.node.empty()) reply.headers.emplace_back("X-Forrst-Node", to.node);
  if (const auto delay = when_to_retry(answered); delay > Duration::zero()) {
    const auto whole = std::chrono::ceil<seconds>(delay).count();
    reply.headers.emplace_back("Retry-After", std::to_string(std::max<std::int64_t>(whole, 1)));
  }
}

}  // namespace

std::string time_text(std::chrono::system_clock::time_point time) {
  const auto whole = std::chrono::floor<seconds>(time);
  const auto day = std::chrono::floor<std::chrono::days>(whole);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(whole - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

Fault make_fault(std::string_view code, std::string message, json::object details) {
  return {.code = std::string(code), .message = std::move(message), .details = std::move(details)};
}

Answered failed(Fault fault) {
  Answered answered;
  answered.faults.push_back(std::move(fault));
  return answered;
}

json::object to_json(const Fault& fault) {
  json::object out{{"code", fault.code}, {"message", fault.message}};
  if (fault.pointer) {
    out["source"] = json::object{{"pointer", *fault.pointer}};
  } else if (fault.position) {
    out["source"] = json::object{{"position", *fault.position}};
  }
  if (!fault.details.empty()) out["details"] = fault.details;
  return out;
}

Reply encode(Answered answered, const AnswerTo& to) {
  Reply reply{.status = status_of(answered), .headers = std::move(answered.headers)};
  add_headers(reply, answered, to);
  json::object body;
  body.reserve(6);
  body["protocol"] = json::object{{"name", protocol_name}, {"version", protocol_version}};
  body["id"] = to.id ? json::value(*to.id) : json::value(nullptr);
  if (answered.is_good()) {
    body["result"] = std::move(answered.result);
  } else {
    body["result"] = nullptr;
    json::array errors;
    for (const auto& fault : answered.faults) errors.push_back(to_json(fault));
    body["errors"] = std::move(errors);
  }
  if (to.orders != nullptr) {
    auto extensions = extensions_of(answered, *to.orders);
    if (!extensions.empty()) body["extensions"] = std::move(extensions);
  }
  body["meta"] = meta_of(answered, to);
  reply.body = json::serialize(body);
  if (reply.body.size() > max_result_bytes) {
    // With it goes what nobody else would tell the caller.
    if (answered.undelivered) answered.undelivered();
    return encode(failed(too_long()), {.id = to.id, .node = to.node, .took = to.took});
  }
  reply.has_waited = answered.has_waited;
  reply.undelivered = std::move(answered.undelivered);
  return reply;
}

}  // namespace holdfast::forrst
