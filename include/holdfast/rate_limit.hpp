// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/options.hpp>
#include <holdfast/rates.hpp>
#include <holdfast/task.hpp>

#include <cstdint>
#include <memory>
#include <stop_token>

namespace holdfast {

namespace recipes {
class RateHandle;
}

// How often something may happen, over all who use the same scope with the same algorithm and
// window: a light handle, as the locks are. Making one talks to nobody, and a bad scope or rule is
// reported by the first call that uses it. May be copied, and used from any thread.
//
// `cost` is how many hits a call stands for, 1 to rule.capacity(): all of them count, or none.
// Every call is one round trip, decided by the store's clock. Errors of all: bad_input,
// unsupported, spec_mismatch (the key is something else), unavailable (surely nothing was counted),
// not_replicated (counted, and a failover may forget it), and outcome_unknown: the answer was lost,
// and the hits may have been counted. Nothing is repeated by itself then, since a repetition would
// count twice; whether to go on is for the caller to decide.
class RateLimit {
 public:
  explicit RateLimit(std::shared_ptr<const recipes::RateHandle> handle)
      : handle_(std::move(handle)) {}

  // Counts the hits if they are allowed. Being denied is an outcome, not an error.
  Result<RateOutcome> check(std::uint32_t cost = 1) const;
  // What a check would answer. Counts nothing.
  Result<RateOutcome> peek(std::uint32_t cost = 1) const;
  // Forgets what was counted, for everybody.
  Result<void> reset() const;

  // Waits up to `wait` (0 to max_wait) until the hits are allowed, and counts them. Waiters are not
  // in line: whoever asks at the right moment is first. Errors, besides those above: busy (without
  // a wait; the message says when to come again), timed_out (as soon as it is known that the wait
  // would be in vain), cancelled. A store that is away for a moment is asked again.
  Result<RateOutcome> take(Duration wait, std::uint32_t cost = 1, std::stop_token stop = {}) const;

  // The same for coroutines; resumed on Holdfast's own thread, as Lockable::async_acquire.
  Task<Result<RateOutcome>> async_check(std::uint32_t cost = 1, std::stop_token stop = {}) const;
  Task<Result<RateOutcome>> async_take(Duration wait, std::uint32_t cost = 1,
                                       std::stop_token stop = {}) const;

 private:
  std::shared_ptr<const recipes::RateHandle> handle_;
};

}  // namespace holdfast
