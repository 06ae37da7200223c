// SPDX-License-Identifier: Apache-2.0
//
// C7: who came first is served first. A name keeps the waiters that were told their place, in the
// order of the places. In a good history whoever is served stands at the head, or everybody before
// it could not be reached.
#include "history/notes.hpp"

namespace holdfast::history::line {

namespace {

// A claim that lapses takes the other waiters of its process with it, some time after the fault.
constexpr Time claim_slack = second;

// A store that returned to an older state has waiters in its queue that hold the lock by now, or
// have left. They are handed the lock before those who came later, and do not take it.
constexpr Time ghosts_wait = 10 * second;

bool may_stand_behind_ghosts(const Notes& notes, const OpNote& op, const Attempt& attempt) {
  // A clock that was set back makes such a claim last longer.
  const std::int64_t last = std::max(notes.data_lost, notes.stepped);
  if (last < 0) return false;
  const Time longest = later(later(ghosts_wait, times(attempt.ttl, 3)), notes.set_back);
  return notes.event(op.asked).at <= later(notes.event(static_cast<Index>(last)).at, longest);
}

bool could_not_be_reached(const Notes& notes, const OpNote& op, const Attempt& attempt) {
  const Time since = later(notes.event(op.asked).at, -claim_slack);
  return notes.processes[attempt.process].fault_until >= since ||
         notes.processes[0].fault_until >= since;
}

// Whoever was cancelled left the queue at a moment that nobody wrote down: its process may have
// been stopped before it could say so, or have crashed.
bool may_have_left(const Notes& notes, const OpNote& op, const Attempt& attempt, Time when) {
  if (attempt.give_up <= when) return true;
  if (op.failed == none && op.granted == none) {
    return notes.processes[attempt.process].crashed != for_ever;
  }
  return op.failed != none && notes.event(op.failed).detail != Detail::timed_out;
}

// Whether the one that is served now takes anything from the one that waits. With the store watched
// that is every earlier waiter of a semaphore: a large request is not overtaken by small ones.
bool takes_from(const Moment& now, const Attempt& waiting) {
  if (is_re_entry(waiting, now.attempt)) return false;
  if (now.event.what == What::held && now.attempt.capacity != everything) return true;
  return std::uint64_t{waiting.permits} + now.attempt.permits > now.attempt.capacity;
}

bool is_overtaken(const Notes& notes, const Moment& now, OpId id) {
  const OpNote& op = notes.ops[id];
  const Attempt& attempt = notes.attempt(id);
  // A newcomer that never heard of a place came after all who had.
  const bool was_told = now.op.queued < now.index;
  const bool is_before = was_told ? op.place < now.op.place : op.queued < now.op.asked;
  const bool together = op.first_held != none && notes.event(op.first_held).at == now.event.at;
  return is_before && !together && takes_from(now, attempt) &&
         !could_not_be_reached(notes, op, attempt) &&
         !may_stand_behind_ghosts(notes, op, attempt) &&
         !may_have_left(notes, op, attempt, now.event.at);
}

void leave(Notes& notes, const Moment& now) {
  OpNote& op = now.op;
  if (!op.in_line) return;
  op.in_line = false;
  (op.ahead == 0 ? now.name.line : notes.ops[op.ahead].behind) = op.behind;
  (op.behind == 0 ? now.name.line_end : notes.ops[op.behind].ahead) = op.ahead;
}

}  // namespace

void on_queued(Notes& notes, const Moment& now) {
  OpNote& op = now.op;
  const bool is_served = op.granted < now.index || op.first_held < now.index;
  if (!now.attempt.fifo || now.attempt.converts != 0 || op.queued != now.index || is_served) return;
  OpId ahead = now.name.line_end;
  while (ahead != 0 && notes.ops[ahead].place > op.place) ahead = notes.ops[ahead].ahead;
  op.ahead = ahead;
  op.behind = ahead == 0 ? now.name.line : notes.ops[ahead].behind;
  (ahead == 0 ? now.name.line : notes.ops[ahead].behind) = now.event.op;
  (op.behind == 0 ? now.name.line_end : notes.ops[op.behind].ahead) = now.event.op;
  op.in_line = true;
}

void on_served(Notes& notes, const Moment& now, bool re_entry) {
  leave(notes, now);
  const Index decided = now.op.first_held != none ? now.op.first_held : now.op.granted;
  if (decided != now.index || !now.attempt.fifo || now.attempt.converts != 0 || re_entry) return;
  // Its place may be of another counting.
  if (notes.disturbed(now.name, now.op.asked)) return;
  for (OpId id = now.name.line; id != 0; id = notes.ops[id].behind) {
    if (now.op.queued < now.index && notes.ops[id].place >= now.op.place) break;
    if (!is_overtaken(notes, now, id)) continue;
    notes.report(now.breaks(Rule::first_come_first_served, id),
                 "attempt {} was served before {}, which had place {} and was told so at {}",
                 now.event.op, id, notes.ops[id].place, at(notes.event(notes.ops[id].queued).at));
    return;
  }
}

void on_left(Notes& notes, const Moment& now) { leave(notes, now); }

}  // namespace holdfast::history::line
