// SPDX-License-Identifier: Apache-2.0
//
// When a call is made again, and after how long. Plain functions; the client only waits.
#pragma once

#include <holdfast/forrst/client.hpp>

#include <cstdint>
#include <optional>

namespace holdfast::forrst {

// Whether every error of the reply says both that nothing was done and that it may be otherwise a
// moment later: somebody has the lock, or an earlier call with the same key is still under way.
bool may_try_again(const CallReply& reply);

// What the server wants to be left alone for, as its errors and the retry extension say it.
Duration asked_patience(const CallReply& reply);

// The delay after so many attempts (from 1): longer by `factor` each time, up to `most`, and
// shorter by up to `jitter` of itself, so that callers who failed together part ways.
Duration next_delay(const Backoff& backoff, unsigned attempts, std::uint64_t random);

// The delay before the next attempt; nothing if there is none to be made: no attempts are left, or
// the server asks for more patience than the caller's `most`.
std::optional<Duration> delay_before_next(const Backoff& backoff, unsigned attempts,
                                          Duration patience, std::uint64_t random);

}  // namespace holdfast::forrst
