// SPDX-License-Identifier: Apache-2.0
#include "model/fence_guard.hpp"

#include "model/bytes.hpp"

#include <fmt/format.h>

#include <cassert>

namespace holdfast::model {

namespace {

constexpr std::uint8_t guard_format = 1;
constexpr std::size_t guard_bytes = 17;

std::unexpected<Error> unreadable(const char* problem) {
  return fail(Errc::unavailable, fmt::format("the stored fence guard {}", problem));
}

// Whoever has the newest fence writes many times, and a store would write with each of them only to
// move the time.
bool is_fresh(const GuardState& state, const GuardCommand& command, StoreTime now) {
  return state.expires - now >= command.keep - command.keep / 8;
}

}  // namespace

Result<void> admissible(const GuardCommand& command) {
  if (command.fence == 0) return fail(Errc::bad_input, "fence: must be at least 1");
  if (command.keep < limits::min_guard_keep || command.keep > limits::max_guard_keep) {
    return fail(Errc::bad_input, fmt::format("keep: must be from 1m to 30d; got {} microseconds",
                                             command.keep.count()));
  }
  return {};
}

GuardOutcome step(GuardState& state, const GuardCommand& command, StoreTime now) {
  assert(admissible(command));
  if (forgettable(state, now)) state = {};
  if (command.fence < state.newest) return {.accepted = false, .newest = state.newest};
  if (command.fence == state.newest && is_fresh(state, command, now)) {
    return {.accepted = true, .newest = state.newest};
  }
  state = {.newest = command.fence, .expires = now + command.keep};
  return {.accepted = true, .newest = state.newest};
}

bool forgettable(const GuardState& state, StoreTime now) {
  return state.newest == 0 || state.expires <= now;
}

void encode(const GuardState& state, std::string& out) {
  out.clear();
  FixedWriter<guard_bytes>()
      .put(guard_format)
      .put(state.newest)
      .put(std::int64_t{state.expires.time_since_epoch().count()})
      .append_to(out);
}

Result<GuardState> decode_guard(std::string_view bytes) {
  ByteReader in(bytes);
  const auto format = in.number<std::uint8_t>();
  if (format > guard_format) {
    return unreadable("was written in a newer format than this version reads");
  }
  if (format < guard_format) return unreadable("has no valid format number");
  GuardState state;
  state.newest = in.number<std::uint64_t>();
  const auto expires_us = in.number<std::int64_t>();
  if (in.failed() || in.left() != 0) return unreadable("is not 17 bytes long");
  if (state.newest == 0) return unreadable("has no fence");
  if (expires_us < -max_time_us || expires_us > max_time_us) {
    return unreadable("has a time out of range");
  }
  state.expires = StoreTime(Micros(expires_us));
  return state;
}

}  // namespace holdfast::model
