// SPDX-License-Identifier: Apache-2.0
//
// Whether the model and Redis made the same of one command.
#pragma once

#include "numbers.hpp"
#include "redis_side.hpp"

#include <optional>
#include <string>
#include <vector>

namespace holdfast::test {

// What the model says of a step.
struct Expected {
  model::StoreTime now{};
  model::LockOutcome outcome;
  std::vector<model::Message> messages;
  model::LockState after;
};

// What differs, with both sides of it; nothing if they agree. Redis' numbers are told in the
// model's where they are known, and new pairs of numbers are learned.
std::optional<std::string> difference(const Expected& expected, StepAnswer answer,
                                      Numbers& numbers);

}  // namespace holdfast::test
