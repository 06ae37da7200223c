// SPDX-License-Identifier: Apache-2.0
//
// Hooks for tracing: who wants to see each acquire, hold and run in OpenTelemetry or elsewhere
// gives Client::trace a Tracer.
//
//   operation         at its start                          at its end
//   lock.acquire      lock.name, .kind, .ttl_ms, .wait_ms   lock.acquired, lock.fence
//   lock.hold         lock.name, .fence                     lock.ended: released, lost or detached
//   idempotency.run   idempotency.key                       idempotency.outcome, .fence
//   rate_limit.check  rate_limit.scope, .limit, .cost       rate_limit.allowed, .remaining
//
// An operation that failed ends with its error's word, such as "unavailable", as "lock.error",
// "idempotency.error" or "rate_limit.error". No attribute has an owner in it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace holdfast {

struct TraceAttribute {
  std::string_view name;
  std::variant<bool, std::int64_t, std::string_view> value;
};

using TraceAttributes = std::span<const TraceAttribute>;

// Both calls come from any thread, several at a time, and also from Holdfast's own thread: they
// must not block, and must not call Holdfast. The texts live only until the call returns. What a
// call throws is dropped.
class Tracer {
 public:
  virtual ~Tracer() = default;

  // Something begins. The number is the tracer's own; it is given back when this ends.
  virtual std::uint64_t start(std::string_view operation, TraceAttributes attributes) = 0;
  // Once for each start, as long as the process lives.
  virtual void end(std::uint64_t span, TraceAttributes attributes) = 0;
};

}  // namespace holdfast
