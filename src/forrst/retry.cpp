// SPDX-License-Identifier: Apache-2.0
#include "forrst/retry.hpp"

#include "forrst/duration.hpp"

#include <algorithm>
#include <array>

namespace holdfast::forrst {

namespace {

using std::chrono::seconds;

struct Advice {
  std::string_view code;
  std::string_view strategy;
  seconds after;
  int max_attempts;
};

constexpr std::array advices{
    Advice{codes::rate_limited, "fixed", seconds(60), 3},
    Advice{codes::unavailable, "exponential", seconds(1), 5},
    Advice{codes::deadline_exceeded, "immediate", seconds(0), 1},
    Advice{codes::dependency_error, "exponential", seconds(2), 3},
    Advice{codes::idempotency_processing, "fixed", seconds(1), 3},
    Advice{"SERVER_MAINTENANCE", "fixed", seconds(60), 1},
    Advice{"FUNCTION_MAINTENANCE", "fixed", seconds(60), 1},
    Advice{codes::function_disabled, "fixed", seconds(30), 2},
};

// Every other one that may be retried, those of locks among them.
constexpr Advice usual{"", "exponential", seconds(1), 3};

}  // namespace

boost::json::object retry_advice(std::string_view code, Duration after) {
  if (!row_of(code).is_retryable) return {{"allowed", false}};
  const auto* found = std::ranges::find(advices, code, &Advice::code);
  const Advice& advice = found != advices.end() ? *found : usual;
  boost::json::object out{{"allowed", true}, {"strategy", advice.strategy}};
  const Duration delay = after > Duration::zero() ? after : Duration(advice.after);
  if (delay > Duration::zero()) out["after"] = to_json(delay);
  out["max_attempts"] = advice.max_attempts;
  return out;
}

}  // namespace holdfast::forrst
