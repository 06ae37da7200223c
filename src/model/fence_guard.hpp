// SPDX-License-Identifier: Apache-2.0
//
// The resource's side of fencing: it remembers the newest fence that came with a write, and refuses
// whoever comes with an older one. Pure, as the locks are.
#pragma once

#include "model/lock_state.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace holdfast::model {

namespace limits {
inline constexpr Micros min_guard_keep = std::chrono::minutes(1);
inline constexpr Micros max_guard_keep = std::chrono::days(30);
// Many times the longest ttl: a holder that was paused for less is still refused.
inline constexpr Micros default_guard_keep = std::chrono::days(7);
}  // namespace limits

// What is known of a resource. It is forgotten when nothing was accepted for as long as the last
// accepted check asked for, so that names do not pile up. A check that repeats the newest fence
// while seven eighths of that time are left changes nothing.
struct GuardState {
  Fence newest = 0;
  StoreTime expires{};
};

// "May whoever has this fence write?" The resource's name is that of the request. Repeating it is
// harmless.
struct GuardCommand {
  Fence fence = 0;
  Micros keep = limits::default_guard_keep;
};

struct GuardOutcome {
  bool accepted = false;
  Fence newest = 0;  // after the check: the fence itself if it was accepted

  friend bool operator==(const GuardOutcome&, const GuardOutcome&) = default;
};

// bad_input with the field and the rule, or success.
Result<void> admissible(const GuardCommand& command);

// The command must be admissible. The newest fence is accepted again: its holder writes twice.
GuardOutcome step(GuardState& state, const GuardCommand& command, StoreTime now);

// Whether nothing is left at `now` that a later step would need.
bool forgettable(const GuardState& state, StoreTime now);

// As bytes; the format is in docs/state-format.md. Replaces `out`.
void encode(const GuardState& state, std::string& out);
// Errors: unavailable, naming what is wrong.
Result<GuardState> decode_guard(std::string_view bytes);

}  // namespace holdfast::model
