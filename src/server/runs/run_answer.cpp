// SPDX-License-Identifier: Apache-2.0
#include "server/runs/run_answer.hpp"

#include "model/utf8.hpp"
#include "server/metrics/metrics.hpp"
#include "text/base64.hpp"
#include "text/json_parse.hpp"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

namespace holdfast::server {

namespace {

std::string json_text(std::string_view text) {
  return boost::json::serialize(boost::json::string(text.data(), text.size()));
}

std::string body_field(std::string_view body) {
  if (body.empty()) return R"("body":null)";
  if (text::parse_json(body)) return fmt::format(R"("body":{})", body);
  if (is_utf8(body)) return fmt::format(R"("body":{})", json_text(body));
  return fmt::format(R"("body_base64":"{}")", text::to_base64(body));
}

Counter& counter_of(RunMetrics& metrics, const model::RunOutcome& outcome) {
  const bool is_after_another = outcome.found == RunFound::abandoned;
  if (outcome.done) return is_after_another ? metrics.taken_over : metrics.begun;
  switch (outcome.found) {
    case RunFound::completed: return metrics.replayed;
    case RunFound::mismatch: return metrics.mismatched;
    case RunFound::in_progress: return metrics.in_progress;
    case RunFound::failed: return metrics.failed;
    case RunFound::abandoned:
    case RunFound::nothing: break;
  }
  return metrics.unknown;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto point = model::first_code_point(text);
    if (point.bytes == 0) return false;
    text.remove_prefix(point.bytes);
  }
  return true;
}

void count_begin(RunMetrics& metrics, const model::RunOutcome& outcome) {
  counter_of(metrics, outcome).add();
}

NoRun why_no_run(std::string_view what, const model::RunOutcome& outcome) {
  switch (outcome.found) {
    case RunFound::in_progress:
      return {{409, "in_progress", fmt::format("{} is under way", what)}, outcome.remaining};
    case RunFound::failed:
      return {{409, "failed_before", fmt::format("{} has failed: {}", what, outcome.failure)},
              outcome.remaining};
    case RunFound::mismatch:
      return {{422, "mismatch", fmt::format("{} was another one: the fingerprints differ", what)}};
    default: break;
  }
  return {{409, "unknown",
           fmt::format("{} was begun and never heard of again: it may or may not have happened",
                       what)}};
}

std::string to_json(const Answer& answer) {
  const auto headers = text::parse_json(answer.headers);
  const bool has_headers = headers && headers->is_object();
  return fmt::format(R"({{"status":{},"headers":{},{}}})", answer.status,
                     has_headers ? answer.headers : "{}", body_field(answer.body));
}

std::string with_field(const boost::json::object& object, std::string_view name,
                       std::string_view json) {
  auto text = boost::json::serialize(object);
  text.pop_back();
  text += fmt::format(R"({}"{}":{}}})", object.empty() ? "" : ",", name, json);
  return text;
}

}  // namespace holdfast::server
