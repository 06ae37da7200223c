// SPDX-License-Identifier: Apache-2.0
//
// What came of an idempotency key, as the endpoints tell it.
#pragma once

#include "model/idempotency.hpp"
#include "server/problem.hpp"

#include <boost/json/fwd.hpp>

#include <string>
#include <string_view>

namespace holdfast::server {

struct RunMetrics;

// Counts an attempt to begin.
void count_begin(RunMetrics& metrics, const model::RunOutcome& outcome);

// Why a caller does not get the run: `in_progress`, `mismatch`, `failed_before` or `unknown`. Not
// for one that was begun, nor for an answer that can be replayed.
struct NoRun {
  Problem problem;
  Micros retry_after{};  // zero: it is of no use
};
NoRun why_no_run(std::string_view what, const model::RunOutcome& outcome);

// {"status", "headers", "body"}. A body that is JSON stands there as it is, byte for byte; another
// text as a string; what is no text as `body_base64`; none as null.
std::string to_json(const Answer& answer);

bool is_utf8(std::string_view text);

// `object` with one more field, whose value is JSON already.
std::string with_field(const boost::json::object& object, std::string_view name,
                       std::string_view json);

}  // namespace holdfast::server
