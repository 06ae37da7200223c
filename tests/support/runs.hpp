// SPDX-License-Identifier: Apache-2.0
//
// Commands about runs in few words, and outcomes that print.
#pragma once

#include "model/idempotency.hpp"

#include <fmt/format.h>

#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::model {

inline void PrintTo(const RunOutcome& outcome, std::ostream* out) {
  *out << fmt::format("{}, found {}, fence {}, remaining {} us, answer {} '{}' of {} bytes, '{}'",
                      outcome.done ? "done" : "not done", to_string(outcome.found), outcome.fence,
                      outcome.remaining.count(), outcome.answer.status, outcome.answer.headers,
                      outcome.answer.body.size(), outcome.failure);
}

}  // namespace holdfast::model

namespace holdfast::test {

inline constexpr Micros run_guard = std::chrono::seconds(10);
inline constexpr Micros run_ttl = std::chrono::seconds(60);
inline constexpr Micros run_keep_failure = std::chrono::seconds(20);

inline model::RunCommand begin_as(std::string_view owner, std::string_view fingerprint = {}) {
  return {.verb = model::RunCommand::Verb::begin,
          .owner = std::string(owner),
          .fingerprint = std::string(fingerprint),
          .guard = run_guard,
          .keep = run_ttl};
}
inline model::RunCommand begin_or_refuse_as(std::string_view owner) {
  auto command = begin_as(owner);
  command.takes_over = false;
  return command;
}
inline model::RunCommand renew_as(std::string_view owner, Micros guard = run_guard) {
  return {.verb = model::RunCommand::Verb::renew, .owner = std::string(owner), .guard = guard};
}
inline model::RunCommand complete_as(std::string_view owner, Answer answer = {},
                                     std::string_view fingerprint = {}) {
  return {.verb = model::RunCommand::Verb::complete,
          .owner = std::string(owner),
          .fingerprint = std::string(fingerprint),
          .keep = run_ttl,
          .answer = std::move(answer)};
}
inline model::RunCommand fail_as(std::string_view owner, std::string_view why,
                                 Micros keep = run_keep_failure) {
  return {.verb = model::RunCommand::Verb::fail,
          .owner = std::string(owner),
          .keep = keep,
          .failure = std::string(why)};
}
inline model::RunCommand abandon_as(std::string_view owner) {
  return {.verb = model::RunCommand::Verb::abandon, .owner = std::string(owner)};
}
inline model::RunCommand look_at_run() { return {.verb = model::RunCommand::Verb::look}; }
inline model::RunCommand forget_run() { return {.verb = model::RunCommand::Verb::forget}; }

}  // namespace holdfast::test
