// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include "n8n/insert.hpp"
#include "n8n/scope.hpp"
#include "n8n/workflow.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::n8n {

enum class OnDenied {
  passthrough,  // ends with {allowed: false, scope, count, limit}
  stop,         // fails with a message
};

struct RateLimitWish {
  ScopeExpression scope;
  std::int64_t limit = 0;
  std::int64_t window_seconds = 0;
  OnDenied on_denied = OnDenied::passthrough;
};

// Puts a gate behind the trigger, and in front of a lock if there is one: what is allowed goes on
// with the items that the trigger gave. Returns what the user should know. Errors: bad_input, and
// the workflow is as it was.
Result<std::vector<std::string>> add_rate_limit(Workflow& workflow, const RateLimitWish& wish,
                                                const Filling& filling);

}  // namespace holdfast::n8n
