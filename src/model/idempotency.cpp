// SPDX-License-Identifier: Apache-2.0
#include "model/idempotency.hpp"

#include "model/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace holdfast::model {

namespace {

using Verb = RunCommand::Verb;
using Status = RunState::Status;
using std::chrono::milliseconds;

std::unexpected<Error> bad(std::string message) {
  return fail(Errc::bad_input, std::move(message));
}

Result<void> check_text(std::string_view field, std::string_view text, std::size_t max) {
  if (text.size() > max) {
    return bad(fmt::format("{}: must be at most {} bytes long; got {}", field, max, text.size()));
  }
  for (auto rest = text; !rest.empty();) {
    const auto point = first_code_point(rest);
    if (point.bytes == 0) return bad(fmt::format("{}: must be valid UTF-8", field));
    rest.remove_prefix(point.bytes);
  }
  return {};
}

Result<void> check_time(std::string_view field, Micros time, Micros min, Micros max) {
  const bool is_whole = time % milliseconds(1) == Micros::zero();
  if (is_whole && time >= min && time <= max) return {};
  return bad(fmt::format("{}: must be {} to {} ms, in whole milliseconds; got {} us", field,
                         std::chrono::floor<milliseconds>(min).count(),
                         std::chrono::floor<milliseconds>(max).count(), time.count()));
}

Result<void> check_answer(const Answer& answer) {
  if (answer.status < 100 || answer.status > 599) {
    return bad(fmt::format("status: must be 100 to 599; got {}", answer.status));
  }
  if (auto good = check_text("headers", answer.headers, max_answer_header_bytes); !good) {
    return good;
  }
  if (answer.body.size() > max_answer_bytes) {
    return bad(fmt::format("result: must be at most {} bytes long; got {}", max_answer_bytes,
                           answer.body.size()));
  }
  return {};
}

Result<void> check_owner(const RunCommand& command) {
  const bool has_owner = command.verb != Verb::look && command.verb != Verb::forget;
  if (!has_owner) return {};
  if (auto owner = OwnerId::make(command.owner); !owner) {
    return std::unexpected(std::move(owner.error()));
  }
  return {};
}

bool is_guarded(const RunState& state, StoreTime now) { return state.guarded_until > now; }

RunFound what_is_there(const RunState& state, StoreTime now) {
  switch (state.status) {
    case Status::none: return RunFound::nothing;
    case Status::running:
      return is_guarded(state, now) ? RunFound::in_progress : RunFound::abandoned;
    case Status::completed: return RunFound::completed;
    case Status::failed: return RunFound::failed;
  }
  std::unreachable();
}

RunOutcome describe(const RunState& state, StoreTime now) {
  RunOutcome outcome{.found = what_is_there(state, now), .fence = state.fence};
  if (outcome.found == RunFound::nothing) return outcome;
  outcome.remaining =
      (outcome.found == RunFound::in_progress ? state.guarded_until : state.expires) - now;
  outcome.answer = state.answer;
  outcome.failure = state.failure;
  return outcome;
}

// Without what the run came to: for whoever is not told that it has happened.
RunOutcome in_short(RunOutcome outcome) {
  outcome.answer = {};
  outcome.failure.clear();
  return outcome;
}

bool agrees(const RunState& state, const RunCommand& command) {
  return state.fingerprint.empty() || command.fingerprint.empty() ||
         state.fingerprint == command.fingerprint;
}

// The record outlives the guard by what begin asked for, however long the run takes: else nobody
// would be told of one that lived longer than that and was not heard of again.
void guard_until(RunState& state, StoreTime end) {
  state.expires += end - state.guarded_until;
  state.guarded_until = end;
}

RunOutcome begin(RunState& state, const RunCommand& command, World& world) {
  const StoreTime now = world.now();
  if (state.status != Status::none && !agrees(state, command)) {
    return {.found = RunFound::mismatch};
  }
  const RunFound found = what_is_there(state, now);
  const bool is_repeated = state.status == Status::running && state.owner == command.owner;
  if (is_repeated) {
    // Whoever still asks has not begun to act. Without a guard it would have no time for that.
    if (found == RunFound::abandoned) {
      guard_until(state, now + command.guard);
      state.guard = command.guard;
    }
    return {.done = true,
            .found = state.took_over ? RunFound::abandoned : RunFound::nothing,
            .fence = state.fence,
            .remaining = state.guarded_until - now};
  }
  const bool may_run =
      found == RunFound::nothing || (found == RunFound::abandoned && command.takes_over);
  if (!may_run) return describe(state, now);
  state = {.status = Status::running,
           .took_over = found == RunFound::abandoned,
           .owner = command.owner,
           .fingerprint = command.fingerprint.empty() ? state.fingerprint : command.fingerprint,
           .fence = world.mint(),
           .guard = command.guard,
           .guarded_until = now + command.guard,
           .expires = now + command.guard + command.keep};
  return {.done = true, .found = found, .fence = state.fence, .remaining = command.guard};
}

bool is_running_for(const RunState& state, const RunCommand& command) {
  return state.status == Status::running && state.owner == command.owner;
}

RunOutcome renew(RunState& state, const RunCommand& command, StoreTime now) {
  // One that was on its way when its run was abandoned must not keep others waiting.
  const bool was_left = state.guard == Micros::zero();
  if (!is_running_for(state, command) || was_left) return in_short(describe(state, now));
  state.guard = command.guard;
  // Never shorter: a late copy of an older renewal must not end what its run still believes in.
  guard_until(state, std::max(state.guarded_until, now + command.guard));
  return {.done = true,
          .found = RunFound::in_progress,
          .fence = state.fence,
          .remaining = state.guarded_until - now};
}

RunOutcome taken(const RunState& state, RunFound found, StoreTime now) {
  return {.done = true, .found = found, .fence = state.fence, .remaining = state.expires - now};
}

RunOutcome complete(RunState& state, const RunCommand& command, StoreTime now) {
  const bool is_repeated = state.status == Status::completed && state.owner == command.owner;
  if (is_repeated) return taken(state, RunFound::completed, now);
  const bool is_free = state.status == Status::none;
  if (!is_free && !is_running_for(state, command)) return in_short(describe(state, now));
  // A record that nobody has any more is made again: it has happened, and others must know.
  state.status = Status::completed;
  state.owner = command.owner;
  if (!command.fingerprint.empty()) state.fingerprint = command.fingerprint;
  state.answer = command.answer;
  state.expires = now + command.keep;
  return taken(state, is_free ? RunFound::nothing : RunFound::in_progress, now);
}

// What it did nobody knows, and the next one is told so.
RunOutcome abandon(RunState& state, const RunCommand& command, StoreTime now) {
  if (!is_running_for(state, command)) return in_short(describe(state, now));
  guard_until(state, std::min(state.guarded_until, now));
  state.guard = Micros::zero();
  return taken(state, RunFound::in_progress, now);
}

RunOutcome fail_run(RunState& state, const RunCommand& command, StoreTime now) {
  const bool is_repeated = state.status == Status::failed && state.owner == command.owner;
  if (is_repeated) return taken(state, RunFound::failed, now);
  if (state.status == Status::none) return {.done = true, .found = RunFound::nothing};
  if (!is_running_for(state, command)) return in_short(describe(state, now));
  if (state.took_over) return abandon(state, command, now);
  RunOutcome outcome{.done = true, .found = RunFound::in_progress, .fence = state.fence};
  if (command.keep == Micros::zero()) {
    state = {};
    return outcome;
  }
  state.status = Status::failed;
  state.failure = command.failure;
  state.expires = now + command.keep;
  outcome.remaining = command.keep;
  return outcome;
}

}  // namespace

Result<void> admissible(const RunCommand& command) {
  if (auto good = check_owner(command); !good) return good;
  switch (command.verb) {
    case Verb::begin:
      if (auto good = check_text("fingerprint", command.fingerprint, max_fingerprint_bytes); !good)
        return good;
      if (auto good = check_time("guard", command.guard, min_guard, max_guard); !good) return good;
      return check_time("ttl", command.keep, min_answer_ttl, max_answer_ttl);
    case Verb::renew: return check_time("guard", command.guard, min_guard, max_guard);
    case Verb::complete:
      if (auto good = check_text("fingerprint", command.fingerprint, max_fingerprint_bytes); !good)
        return good;
      if (auto good = check_answer(command.answer); !good) return good;
      return check_time("ttl", command.keep, min_answer_ttl, max_answer_ttl);
    case Verb::fail:
      if (auto good = check_text("error", command.failure, max_failure_bytes); !good) return good;
      return check_time("keep_failure", command.keep, Micros::zero(), max_answer_ttl);
    case Verb::abandon:
    case Verb::look:
    case Verb::forget: return {};
  }
  std::unreachable();
}

RunOutcome step(RunState& state, const RunCommand& command, World& world) {
  assert(admissible(command));
  const StoreTime now = world.now();
  if (forgettable(state, now)) state = {};
  switch (command.verb) {
    case Verb::begin: return begin(state, command, world);
    case Verb::renew: return renew(state, command, now);
    case Verb::complete: return complete(state, command, now);
    case Verb::fail: return fail_run(state, command, now);
    case Verb::abandon: return abandon(state, command, now);
    case Verb::look: return describe(state, now);
    case Verb::forget: {
      auto outcome = in_short(describe(state, now));
      outcome.done = outcome.found != RunFound::nothing;
      state = {};
      return outcome;
    }
  }
  std::unreachable();
}

bool forgettable(const RunState& state, StoreTime now) {
  return state.status == RunState::Status::none || state.expires <= now;
}

}  // namespace holdfast::model
