// SPDX-License-Identifier: Apache-2.0
//
// How long we may believe in a lease. Everything here errs on the side of too short.
#pragma once

#include "model/command.hpp"
#include "runtime/clock.hpp"

#include <optional>

namespace holdfast::client {

using model::StoreTime;
using runtime::LocalTime;

// By how much the clocks of the store and of this machine may run at different speeds.
struct Drift {
  std::uint32_t ppm = 10'000;  // one per cent
};

// The drift over the whole lease, and two milliseconds for the grain of the clocks.
Micros drift_allowance(Micros lease, Drift drift);

// For a lease told by a reply: counted from before its own command was sent, never from receipt.
LocalTime valid_until(LocalTime before_send, Micros remaining, Drift drift);

// The store's clock read in a reply, and the local time before that reply's command was sent:
// the store read its clock no earlier than that.
struct ClockPair {
  LocalTime before_send{};
  StoreTime store{};
};

// For a lease told by a message that carries the store's time of the grant. Nothing if the pair
// says that the grant was made after it was received: the store's clock was set since, or another
// store was asked then, and the pair is void.
std::optional<LocalTime> valid_until(const ClockPair& pair, const model::Grant& grant,
                                     LocalTime received, Drift drift);

// Whether a lease told by a message can be used before it is confirmed: at least half of the claim
// must be left, and without a pair (the message overtook the Queued reply) nothing is known.
std::optional<LocalTime> usable_at_once(const std::optional<ClockPair>& pair,
                                        const model::Grant& grant, LocalTime received, Drift drift);

// How long before the end of its validity a lease is declared lost, so that the signal is out
// while the lock is surely still ours.
Micros lost_margin(Micros ttl);

// A little earlier, so that what many leases or waiters do at about the same time leaves in one
// write. `interval` is how often it is done: nothing moves by more than a sixty-fourth of it.
LocalTime together(LocalTime when, Micros interval);

// How long one command may take before it counts as failed.
inline constexpr Micros command_timeout = std::chrono::milliseconds(500);

// Where a waiter stands among those of this client who wait for the same lock.
enum class Standing : std::uint8_t {
  first,           // asks again after 0.8 s to 1.2 s
  first_for_long,  // has asked max_quick_questions times: 1.6 s to 2.4 s
  behind,          // another one: 4 s to 6 s, since a thousand sleepers should cost next to nothing
};

inline constexpr unsigned max_quick_questions = 8;

// How long a waiter sleeps between two questions. `random` spreads the waiters.
Micros between_questions(Standing standing, std::uint64_t random);

// When a waiter asks again without having been told anything. `in_line` is how many of this client
// wait for the same lock: those behind in a crowd of thousands ask less often, so that all of them
// together ask at most a few hundred times a second.
Micros backstop(const model::Queued& queued, Standing standing, std::size_t in_line,
                std::uint64_t random);

}  // namespace holdfast::client
