// SPDX-License-Identifier: Apache-2.0
//
// C9: a loss is told no later than the believed end. C10: when faults are over, everybody who waits
// is served.
#include "history/notes.hpp"

namespace holdfast::history::deadlines {

namespace {

// A process that does nothing tells nothing: the end of the stops that reach over `when`, one
// touching the next.
Time awake_at(const Notes& notes, ProcessId process, Time when) {
  for (const Stop& stop : notes.stops) {
    if (stop.at > when) break;
    if (stop.process == process) when = std::max(when, stop.until);
  }
  return when;
}

// The lease ended at `until` as far as its caller knew. When must it have been told by?
Time deadline(const Notes& notes, OpId op, Time until) {
  return awake_at(notes, notes.attempt(op).process, until);
}

void check_loss(Notes& notes, OpId id) {
  OpNote& op = notes.ops[id];
  if (op.told == none) return;
  const Time until = std::max(op.until, notes.first_of(op).lease_until);
  if (op.end <= until || until >= notes.ended) return;
  const Time latest = deadline(notes, id, until);
  if (op.end <= latest || latest >= notes.ended) return;
  notes.report({Rule::loss_told_in_time, op.told, id, 0},
               "attempt {} believed until {}; the loss had to be told by {}, and was: {}", id,
               at(until), at(latest), at(op.end));
}

void check_service(Notes& notes, OpId id, const Event& calm) {
  const Attempt& attempt = notes.attempt(id);
  const OpNote& op = notes.ops[id];
  if (!attempt.waits || op.asked == none) return;
  if (notes.processes[attempt.process].crashed != for_ever) return;
  // One that is stopped beyond the last fault asks for nothing meanwhile.
  const Time from = awake_at(notes, attempt.process, std::max(notes.event(op.asked).at, calm.at));
  const Time patience = later(times(attempt.ttl, 3), calm.until - calm.at);
  const Time latest = later(from, patience);
  if (latest > notes.ended) return;
  const Index answer = std::min(op.granted, op.failed);
  if (answer == op.failed && answer != none) {
    const Event& failed = notes.event(answer);
    const bool gave_up = failed.at >= attempt.give_up || failed.detail == Detail::cancelled;
    const bool was_refused = attempt.converts != 0;  // a second upgrader, or a lease that was lost
    if (failed.at > calm.at && failed.at <= latest && !gave_up && !was_refused) {
      notes.report({Rule::everybody_served, answer, id, 0},
                   "attempt {} waited without a fault, and failed at {} before it gave up", id,
                   at(failed.at));
    }
  }
  if (answer != none && notes.event(answer).at <= latest) return;
  if (answer != none && notes.event(answer).detail == Detail::timed_out &&
      attempt.give_up <= latest) {
    return;
  }
  notes.report({Rule::everybody_served, answer == none ? op.asked : answer, id, 0},
               "attempt {} waited since {} without a fault and was not served by {}", id, at(from),
               at(latest));
}

}  // namespace

// A lease that comes back to life after its believed end was lost in between.
void on_renewed(Notes& notes, const Moment& now) {
  if (now.op.told == none || now.event.until <= now.event.at) return;
  const Time until = std::max(now.op.until, notes.first_of(now.op).lease_until);
  if (now.event.at <= until || now.op.end <= until) return;
  const Time latest = deadline(notes, now.event.op, until);
  if (latest >= now.event.at) return;
  notes.report(now.breaks(Rule::loss_told_in_time),
               "attempt {} believed until {}, told no loss by {}, and was renewed at {}",
               now.event.op, at(until), at(latest), at(now.event.at));
}

void at_the_end(Notes& notes) {
  for (OpId id = 1; id < notes.ops.size(); ++id) check_loss(notes, id);
  if (notes.calm == none) return;
  const Event& calm = notes.event(notes.calm);
  for (OpId id = 1; id < notes.ops.size(); ++id) check_service(notes, id, calm);
}

}  // namespace holdfast::history::deadlines
