// SPDX-License-Identifier: Apache-2.0
//
// Something that should happen once: who runs it now, and what came of it. Pure, as the locks are.
//
// A run is guarded by a lease. Where it ends without a word, somebody else may take over, and gets
// a larger fence. Every word of a run carries its owner, so that one that was taken over cannot
// overwrite what the next one found. What a crashed run did nobody knows: its record is kept as
// long as an answer would be, so that whoever comes next is told that there was one.
#pragma once

#include <holdfast/runs.hpp>

#include "model/step.hpp"

#include <string>
#include <string_view>

namespace holdfast::model {

struct RunCommand {
  enum class Verb : std::uint8_t { begin = 1, renew, complete, fail, abandon, look, forget };
  Verb verb = Verb::begin;
  std::string owner{};        // of the run; not of look and forget
  std::string fingerprint{};  // of begin and complete; empty: agrees with any
  Micros guard{};             // of begin and renew: whole milliseconds
  // Whole milliseconds. Of begin: how long a run that is never heard of again is known after its
  // guard. Of complete and fail: how long that is told; zero of fail: not at all, and the next one
  // begins anew. A run that took over from another cannot fail for it: that one stays
  // abandoned.
  Micros keep{};
  bool takes_over = true;  // of begin: an abandoned run
  Answer answer{};         // of complete
  std::string failure{};   // of fail
};

struct RunState {
  enum class Status : std::uint8_t { none = 0, running, completed, failed };
  Status status = Status::none;
  bool took_over = false;  // the run began where another was abandoned
  std::string owner{};     // of the run, also after its end: its last word may come twice
  std::string fingerprint{};
  Fence fence = 0;
  Micros guard{};  // zero once its run has left it
  StoreTime guarded_until{};
  StoreTime expires{};
  Answer answer{};
  std::string failure{};
  friend bool operator==(const RunState&, const RunState&) = default;
};

struct RunOutcome {
  // Whether the command did what it says: the run is the caller's, or its word was taken. A look
  // does nothing and is never done.
  bool done = false;
  // What was there before; of renew, complete and fail that were not done, what is there instead.
  RunFound found = RunFound::nothing;
  Fence fence = 0;        // of the run that is there now
  Micros remaining{};     // in_progress: of its guard; else of the record
  Answer answer{};        // completed, of begin and look
  std::string failure{};  // failed, of begin and look
  friend bool operator==(const RunOutcome&, const RunOutcome&) = default;
};

// bad_input with the field and the rule, or success.
Result<void> admissible(const RunCommand& command);

// The command must be admissible. Repeating one is harmless.
RunOutcome step(RunState& state, const RunCommand& command, World& world);

// Whether nothing is left at `now` that a later step would need.
bool forgettable(const RunState& state, StoreTime now);

// As bytes; the format is in docs/state-format.md. Replaces `out`.
void encode(const RunState& state, std::string& out);
// Errors: unavailable, naming what is wrong.
Result<RunState> decode_run(std::string_view bytes);

}  // namespace holdfast::model
