// SPDX-License-Identifier: Apache-2.0
//
// C12: `unavailable` says that nothing happened. Whoever hears it asks somewhere else, or later; a
// lease that the store gave all the same is nobody's, and keeps everybody out until its ttl ends.
#include "history/notes.hpp"

namespace holdfast::history::answers {

namespace {

// For how long the process could not give anything back, by stops and by trouble on its way.
Time was_kept_from_it(const Notes& notes, ProcessId process, Time from, Time to) {
  Time sum = 0;
  const auto add = [&](Time at, Time until) {
    sum = later(sum, std::max<Time>(0, std::min(until, to) - std::max(at, from)));
  };
  for (const Stop& stop : notes.stops) {
    if (stop.process == process || stop.process == 0) add(stop.at, stop.until);
  }
  for (const Trouble& trouble : notes.troubles) {
    if (trouble.process == process || trouble.process == 0) add(trouble.at, trouble.until);
  }
  return sum;
}

}  // namespace

// An attempt whose first question was granted in silence and whose last one was refused cleans up
// behind itself, and is excused.
void on_failed(Notes& notes, const Moment& now) {
  const bool is_there = now.op.in_store && now.op.held_until > now.event.at;
  if (now.event.detail != Detail::unavailable || !is_there) return;
  if (now.op.freed != none && now.op.freed > now.index) return;
  const Time until = now.op.held_until;
  const bool crashed = notes.processes[now.attempt.process].crashed <= until;
  if (crashed || until >= notes.ended || notes.disturbed(now.name, notes.began(now.op))) return;
  const Time kept = was_kept_from_it(notes, now.attempt.process, now.event.at, until);
  if (kept > (until - now.event.at) / 3) return;
  notes.report(now.breaks(Rule::untrue_answer),
               "attempt {} was told at {} that nothing happened, but the store has its lease from "
               "{} until {}, and nobody gives it back",
               now.event.op, at(now.event.at), at(notes.event(now.op.held).at), at(until));
}

}  // namespace holdfast::history::answers
