// SPDX-License-Identifier: Apache-2.0
//
// How often something may happen: a fixed window, a sliding window, or a bucket of tokens (GCRA).
// Pure, as the locks are. One name is one limit: whoever uses the same name with another algorithm
// or window has another limit (see limit_name), so that a state never has to be read as something
// that it is not. The number of hits that are allowed may change from one check to the next.
#pragma once

#include <holdfast/rates.hpp>

#include "model/lock_state.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::model {

namespace limits {
// A sliding window remembers each hit as long as no more than this many are allowed. Beyond that
// the hits of a slice, this part of the window, count as one: they leave with the last of them.
inline constexpr std::uint32_t rate_slices = 60;
// A bucket counts in parts of a token, in whole numbers that a double holds exactly.
inline constexpr std::uint64_t max_bucket_units = std::uint64_t{1} << 52U;
// What a reader of a sliding window accepts. One rule needs 128 at most; the rest is for a name
// that is used with one window after the other, from the shortest to the longest.
inline constexpr std::size_t max_rate_hits = 2048;
}  // namespace limits

struct RateCommand {
  enum class Verb : std::uint8_t { check = 1, peek, reset };
  Verb verb = Verb::check;
  RateRule rule;
  std::uint32_t cost = 1;  // how many hits this is; all of them are allowed, or none
};

// Time here is `now + ahead`: a clock that is set back must not take anything from anybody, so from
// then on it counts as if it had stood still instead.
struct RateState {
  struct Hits {
    StoreTime at{};  // the last of them
    std::uint32_t count = 0;
    friend bool operator==(const Hits&, const Hits&) = default;
  };
  RateAlgorithm algorithm = RateAlgorithm::sliding_window;
  StoreTime seen{};     // the latest time of a step that changed something
  Micros ahead{};       // never negative
  StoreTime expires{};  // by the store's own clock: nothing is needed any more
  // Of a fixed window: where it began, and what came since.
  StoreTime begin{};
  std::uint64_t count = 0;
  // Of a sliding window, the oldest first.
  std::vector<Hits> hits;
  // Of a bucket: what is missing from it, `units` for each token.
  std::uint64_t level = 0;
  std::uint64_t units = 0;

  friend bool operator==(const RateState&, const RateState&) = default;
};

// Where the limit of a scope is kept: the scope with its algorithm and window, or, in the layout of
// another program, with what that program calls it. Errors: bad_input, naming the scope.
Result<LockName> limit_name(std::string_view scope, const RateRule& rule);

// bad_input with the field and the rule, or success.
Result<void> admissible(const RateCommand& command);

// The command must be admissible. A check that is denied counts in the layouts of other programs,
// and nowhere else.
RateOutcome step(RateState& state, const RateCommand& command, StoreTime now);

// Whether nothing is left at `now` that a later step would need.
bool forgettable(const RateState& state, StoreTime now);

// As bytes; the format is in docs/state-format.md. Replaces `out`.
void encode(const RateState& state, std::string& out);
// Errors: unavailable, naming what is wrong.
Result<RateState> decode_rate(std::string_view bytes);

}  // namespace holdfast::model
