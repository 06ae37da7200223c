// SPDX-License-Identifier: Apache-2.0
//
// What a request to /api/locks/{pattern}/{resourceId} asks for, from its body and its query.
#pragma once

#include "client/acquire.hpp"
#include "client/renewal.hpp"
#include "server/endpoints/patterns/pattern.hpp"
#include "server/http/call.hpp"

#include <optional>

namespace holdfast::server::patterns {

// What is done while the lock is held.
struct Operation {
  Micros duration{};     // of a hold
  std::string upstream;  // empty: a hold
  std::string method;    // for the upstream
  std::string body;      // for the upstream, JSON or nothing
  // Of a run under an Idempotency-Key, for the upstream; empty: of none.
  std::string key{};
  bool takes_over = false;  // another run began it, and was not heard of again
};

// Whether an operation has happened, for whoever must not let it happen twice.
enum class Effect : std::uint8_t { none, done, unknown };

struct PatternOrder {
  const Pattern& pattern;
  std::string resource;
  client::Wanted wanted;
  client::Terms terms;
  Operation operation;
  std::uint32_t depth = 1;  // how often the lock is entered
};

inline constexpr Micros max_operation = std::chrono::hours(23);
inline constexpr std::uint32_t max_depth = 10;

// Everything in whole milliseconds, as the guide has it. Errors: bad_input naming the field,
// unsupported by the store.
Result<PatternOrder> parse_order(const Call& call, const Pattern& pattern);

}  // namespace holdfast::server::patterns
