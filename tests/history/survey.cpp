// SPDX-License-Identifier: Apache-2.0
//
// The first reading: does the history make sense, and what becomes of each attempt?
#include "history/notes.hpp"

#include <algorithm>

namespace holdfast::history {

namespace {

// Enough for everything that was ever recorded; more is a broken file, not a large cluster.
constexpr ProcessId most_processes = 1U << 22U;

bool is_fault(What what) { return what >= What::unreachable && what <= What::forced; }
bool is_of_an_attempt(What what) { return what < What::unreachable; }

Finding odd(Index index, OpId op = 0) { return {Rule::well_formed, index, op, 0}; }

bool attempts_make_sense(Notes& notes) {
  const History& history = *notes.history;
  ProcessId last = 0;
  for (std::size_t i = 0; i < history.attempts.size(); ++i) {
    const Attempt& attempt = history.attempts[i];
    const auto op = static_cast<OpId>(i + 1);
    notes.ops[op].lease = op;
    notes.ops[op].weight = attempt.permits;
    last = std::max(last, attempt.process);
    if (attempt.name == 0 || attempt.name > history.names.size()) {
      notes.report(odd(0, op), "attempt {} is about name {}, but there are {}", op, attempt.name,
                   history.names.size());
    } else if (attempt.permits == 0 || attempt.permits > attempt.capacity) {
      notes.report(odd(0, op), "attempt {} wants {} of {}", op, attempt.permits, attempt.capacity);
    } else if (attempt.ttl < 0) {
      notes.report(odd(0, op), "attempt {} has a ttl of {}", op, at(attempt.ttl));
    }
  }
  for (const Event& event : history.events) last = std::max(last, event.process);
  if (last > most_processes) {
    notes.report(odd(0), "process {} is beyond the limit of {}", last, most_processes);
    return false;
  }
  notes.processes.assign(last + 1, {});
  return notes.count == 0;
}

void note_asked(Notes& notes, Index index, const Event& event, OpNote& op) {
  if (op.asked != none) {
    notes.report(odd(index, event.op), "attempt {} began twice", event.op);
    return;
  }
  op.asked = index;
  const OpId converts = notes.attempt(event.op).converts;
  if (converts == 0) return;
  const bool known = converts <= notes.history->attempts.size() && converts != event.op &&
                     notes.ops[converts].asked != none &&
                     notes.attempt(converts).name == notes.attempt(event.op).name;
  if (known)
    op.lease = notes.ops[converts].lease;
  else
    notes.report(odd(index, event.op),
                 "attempt {} converts {}, which is no earlier lease of the name", event.op,
                 converts);
}

void note_granted(Notes& notes, Index index, const Event& event, OpNote& op) {
  if (op.granted != none || op.failed != none) {
    notes.report(odd(index, event.op), "attempt {} was granted after it had been answered",
                 event.op);
  }
  if (event.until < event.at) {
    notes.report(odd(index, event.op), "attempt {} was granted at {} until {}", event.op,
                 at(event.at), at(event.until));
  }
  if (op.granted == none) op.granted = index;
  op.alive = event.at;
}

void note_failed(Notes& notes, Index index, const Event& event, OpNote& op) {
  if (op.granted != none || op.failed != none) {
    notes.report(odd(index, event.op), "attempt {} failed after it had been answered", event.op);
  }
  if (op.failed == none) op.failed = index;
  op.done = std::min(op.done, event.at);
}

void note_end(Notes& notes, Index index, const Event& event, OpNote& op) {
  if (op.granted == none) {
    notes.report(odd(index, event.op), "attempt {} lost or let go what it was never granted",
                 event.op);
  }
  op.end = std::min(op.end, event.at);
  if (event.what == What::releasing && op.releasing == none) op.releasing = index;
}

void note_use(Notes& notes, Index index, const Event& event) {
  if (event.since > event.at) {
    notes.report(odd(index, event.op), "attempt {} decided at {} what it did at {}", event.op,
                 at(event.since), at(event.at));
  } else if (event.since != 0 && event.since < event.at) {
    notes.uses.push_back({event.since, index});
  }
}

void note_attempt(Notes& notes, Index index, const Event& event) {
  OpNote& op = notes.ops[event.op];
  if (event.what != What::asked && op.asked == none) {
    notes.report(odd(index, event.op), "attempt {} did something before it began", event.op);
  }
  switch (event.what) {
    case What::asked: note_asked(notes, index, event, op); break;
    case What::queued:
      if (op.queued == none) {
        op.queued = index;
        op.place = event.number;
      }
      break;
    case What::granted: note_granted(notes, index, event, op); break;
    case What::failed: note_failed(notes, index, event, op); break;
    case What::releasing:
    case What::lost: note_end(notes, index, event, op); break;
    case What::released:
      op.done = std::min(op.done, event.at);
      if (event.detail == Detail::released) op.gone = std::min(op.gone, event.at);
      break;
    case What::renewing: notes.has_renewals = true; [[fallthrough]];
    case What::renewed: op.alive = event.at; break;
    case What::read:
    case What::wrote: note_use(notes, index, event); break;
    case What::held:
      if (op.first_held == none) op.first_held = index;
      op.last_held = index;
      break;
    case What::freed: op.freed = index; break;
    default: break;
  }
}

void note_fault(Notes& notes, const Event& event) {
  if (event.what == What::clock_stepped && event.number < 0) {
    notes.set_back = later(notes.set_back, -std::max(event.number, -for_ever));
  }
  if (event.what == What::unreachable || (event.what == What::stopped && event.process == 0)) {
    // A server that stands still answers everything once it goes on.
    const bool delays = event.delays || event.what == What::stopped;
    notes.troubles.push_back({event.process, event.at, event.until, delays});
  }
  if (event.what != What::stopped) return;
  notes.stops.push_back({event.process, event.at, event.until});
  ProcessNote& process = notes.processes[event.process];
  if (event.until == for_ever) process.crashed = std::min(process.crashed, event.at);
}

// When the store can no longer have the lease, at the latest. Where the store cannot be watched, a
// renewal may still be on its way for some time.
Time surely_gone(const Notes& notes, const OpNote& op, Time ttl) {
  if (op.last_held == none) {
    return std::min(op.gone, later(later(op.alive, notes.set_back), later(times(ttl, 6), second)));
  }
  if (op.freed != none && op.freed > op.last_held) return notes.event(op.freed).at;
  return later(later(notes.event(op.last_held).until, notes.set_back), later(ttl / 50, second));
}

void conclude(Notes& notes) {
  for (OpId op = 1; op < notes.ops.size(); ++op) {
    OpNote& note = notes.ops[op];
    const Attempt& attempt = notes.attempt(op);
    const Time crashed = notes.processes[attempt.process].crashed;
    note.end = std::min(note.end, crashed);
    note.done = std::min(note.done, crashed);
    note.gone = surely_gone(notes, note, attempt.ttl);
  }
  std::ranges::sort(notes.uses, {},
                    [](const Use& use) { return std::pair(use.decided, use.event); });
}

bool is_in_range(Notes& notes, Index index, const Event& event) {
  const std::size_t most = notes.history->attempts.size();
  if (is_of_an_attempt(event.what) && (event.op == 0 || event.op > most || event.by > most)) {
    notes.report(odd(index, 0), "event {} belongs to attempt {} by {}, but there are {}", index,
                 event.op, event.by, most);
    return false;
  }
  if (event.what == What::forced && (event.name == 0 || event.name >= notes.names.size())) {
    notes.report(odd(index), "name {} was forced, but there are {}", event.name,
                 notes.history->names.size());
    return false;
  }
  return true;
}

}  // namespace

bool survey(Notes& notes) {
  const auto& events = notes.history->events;
  if (events.size() >= none || !attempts_make_sense(notes)) return false;
  bool usable = true;
  for (Index index = 0; index < events.size(); ++index) {
    const Event& event = events[index];
    if (event.at < notes.ended) {
      notes.report(odd(index, event.op), "event {} happened at {}, before the one before it at {}",
                   index, at(event.at), at(notes.ended));
    }
    notes.ended = std::max(notes.ended, event.at);
    if (!is_in_range(notes, index, event)) {
      usable = false;
    } else if (is_of_an_attempt(event.what)) {
      note_attempt(notes, index, event);
    } else if (is_fault(event.what)) {
      note_fault(notes, event);
    } else if (event.what == What::calm) {
      notes.calm = index;
    }
  }
  conclude(notes);
  return usable;
}

}  // namespace holdfast::history
