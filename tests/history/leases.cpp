// SPDX-License-Identifier: Apache-2.0
//
// C3: no renewal after the release, nor after a later grant. C4: a release works once, for its own
// lease, and leaves nothing behind. C6: what nobody wants any more ends soon, by itself.
#include "history/notes.hpp"

namespace holdfast::history::leases {

namespace {

bool was_let_go(const Moment& now) { return now.op.releasing < now.index; }

// Whether another was granted the lock meanwhile, and nothing excuses what this one still does.
bool is_superseded(const Notes& notes, const Moment& now) {
  if (now.op.superseded >= now.index) return false;
  const Index began = std::min(notes.began(now.op), notes.began(notes.ops[now.op.superseded_by]));
  return !notes.disturbed(now.name, began);
}

bool may_have_several(const Attempt& attempt) {
  return attempt.reentrant || attempt.permits < attempt.capacity;
}

std::uint32_t& leases_of_owner(Notes& notes, const Attempt& attempt) {
  return notes.in_store.at(attempt.owner, attempt.name);
}

void check_sent_in_time(Notes& notes, const Moment& now) {
  const Time since = now.event.since;
  if (now.op.releasing != none && since > notes.event(now.op.releasing).at) {
    notes.report(now.breaks(Rule::renewals_end),
                 "the store gave attempt {} a lease on a command of {}, let go at {}", now.event.op,
                 at(since), at(notes.event(now.op.releasing).at));
  } else if (now.op.failed != none && since > notes.event(now.op.failed).at) {
    notes.report(now.breaks(Rule::renewals_end),
                 "the store gave attempt {} a lease on a command of {}, failed at {}", now.event.op,
                 at(since), at(notes.event(now.op.failed).at));
  }
}

}  // namespace

void on_renewing(Notes& notes, const Moment& now) {
  if (!was_let_go(now)) return;
  notes.report(now.breaks(Rule::renewals_end), "attempt {} sent a renewal at {}, let go at {}",
               now.event.op, at(now.event.at), at(notes.event(now.op.releasing).at));
}

void on_renewed(Notes& notes, const Moment& now) {
  const Time since = now.event.since;
  if (was_let_go(now) && since > notes.event(now.op.releasing).at) {
    notes.report(now.breaks(Rule::renewals_end),
                 "attempt {} was renewed on a command of {}, let go at {}", now.event.op, at(since),
                 at(notes.event(now.op.releasing).at));
  }
  if (!is_superseded(notes, now) || since <= notes.event(now.op.superseded).at) return;
  notes.report(now.breaks(Rule::renewals_end, now.op.superseded_by),
               "attempt {} was renewed on a command of {}, but {} had been granted the lock at {}",
               now.event.op, at(since), now.op.superseded_by,
               at(notes.event(now.op.superseded).at));
}

void on_released(Notes& notes, const Moment& now) {
  if (!was_let_go(now)) {
    notes.report(now.breaks(Rule::released_once), "attempt {} was released without letting go",
                 now.event.op);
  }
  if (now.event.detail != Detail::released) return;
  if (now.op.released) {
    notes.report(now.breaks(Rule::released_once), "attempt {} was released twice", now.event.op);
  }
  now.op.released = true;
  // Where the store can be watched: it did free a lease of this attempt, given by a late request.
  const bool had_one_after_all = now.op.freed != none && now.op.freed > now.op.releasing;
  const bool too_late = is_superseded(notes, now) && now.op.had_ended && !had_one_after_all &&
                        now.op.superseded < now.op.releasing;
  if (!too_late) return;
  notes.report(now.breaks(Rule::released_once, now.op.superseded_by),
               "attempt {} released successfully what {} had been granted at {}", now.event.op,
               now.op.superseded_by, at(notes.event(now.op.superseded).at));
}

void on_held(Notes& notes, const Moment& now) {
  check_sent_in_time(notes, now);
  // A clock that was set back makes leases longer that were given before, and one that runs slowly
  // takes longer to come back.
  const Time set_back = later(notes.set_back, notes.set_back / 16);
  const Time most = later(later(now.event.at, set_back), later(now.attempt.ttl, second));
  if (now.event.until > most) {
    notes.report(now.breaks(Rule::orphans_vanish),
                 "the store holds the lease of attempt {} from {} until {}, its ttl is {}",
                 now.event.op, at(now.event.at), at(now.event.until), at(now.attempt.ttl));
  }
  if (!now.op.in_store && may_have_several(now.attempt)) ++leases_of_owner(notes, now.attempt);
  // Whoever was ousted and is served again comes with another fence.
  if (now.event.fence != now.op.held_fence) now.op.ousted = false;
  now.op.in_store = true;
  now.op.held = now.index;
  now.op.held_fence = now.event.fence;
  now.op.held_until = now.event.until;
}

void on_freed(Notes& notes, const Moment& now) {
  const OpId by = now.event.by;
  const bool counted = may_have_several(now.attempt);
  if (now.op.in_store && counted) --leases_of_owner(notes, now.attempt);
  now.op.in_store = false;
  now.op.ousted = now.op.ousted || (by == 0 && now.name.forced_fence != 0);
  if (by != 0 && by != now.event.op && !notes.share_a_lease(by, now.event.op)) {
    notes.report(now.breaks(Rule::released_once, by), "the lease of attempt {} was ended by {}",
                 now.event.op, by);
  }
  if (by != now.event.op || now.event.number <= 0 || notes.data_lost >= 0) return;
  const std::int64_t most = counted ? leases_of_owner(notes, now.attempt) : 0;
  if (now.event.number <= most) return;
  notes.report(now.breaks(Rule::released_once),
               "after the release of attempt {} its owner still has {} leases, and should have {}",
               now.event.op, now.event.number, most);
}

void on_self_blocked(Notes& notes, const Moment& now) {
  notes.report(now.breaks(Rule::orphans_vanish), "attempt {} was blocked by a lease of its own",
               now.event.op);
}

void at_the_end(Notes& notes) {
  for (OpId id = 1; id < notes.ops.size(); ++id) {
    const OpNote& op = notes.ops[id];
    // What the store does with a lease that is being converted is not written down.
    if (op.last_held == none || op.done == for_ever || op.converted) continue;
    const Event& held = notes.event(op.last_held);
    const bool was_freed = op.freed != none && op.freed > op.last_held;
    const Time gone = was_freed ? notes.event(op.freed).at : held.until;
    const Time allowed = later(notes.attempt(id).ttl, later(second, notes.set_back));
    const Time most = later(std::max(op.done, held.at), allowed);
    if (gone <= most) continue;
    notes.report({Rule::orphans_vanish, was_freed ? op.freed : op.last_held, id, 0},
                 "nobody wants attempt {} since {}, but the store has its lease until {}", id,
                 at(op.done), at(gone));
  }
}

}  // namespace holdfast::history::leases
