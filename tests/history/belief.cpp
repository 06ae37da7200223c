// SPDX-License-Identifier: Apache-2.0
//
// C2: what callers believe in at once is never more than there is. A name keeps a list of the
// leases that are believed in, and of those that ended but were not let go: the next grant that
// conflicts with one of those supersedes it.
//
// Here is also the other half of C1: who enters again beside a lease of its own gets its fence.
#include "history/notes.hpp"

namespace holdfast::history::belief {

namespace {

bool is_believed(const OpNote& op, Time when) { return op.until > when && op.end > when; }

// One lease, or leases that count once.
bool count_once(const Notes& notes, OpId a, OpId b) {
  return notes.share_a_lease(a, b) || is_re_entry(notes.attempt(a), notes.attempt(b));
}

struct Others {
  std::uint64_t weight = 0;
  OpId heaviest = 0;
};

class Look {
 public:
  Look(Notes& notes, const Moment& now, Time when) : notes_(notes), now_(now), when_(when) {}

  // What others believe to have beside this attempt, as far as exclusion is promised.
  Others others() const {
    Others sum;
    for (OpId id = now_.name.leases; id != 0; id = notes_.ops[id].next) {
      const OpNote& op = notes_.ops[id];
      if (!counts(id) || is_counted_before(id)) continue;
      const std::uint64_t weight = heaviest_of_its_kind(id);
      sum.weight += weight;
      if (sum.heaviest == 0 || op.weight > notes_.ops[sum.heaviest].weight) sum.heaviest = id;
    }
    return sum;
  }

  std::uint64_t own_weight() const {
    std::uint64_t weight = now_.op.weight;
    for (OpId id = now_.name.leases; id != 0; id = notes_.ops[id].next) {
      const bool same = count_once(notes_, id, now_.event.op) && is_believed(notes_.ops[id], when_);
      if (same) weight = std::max<std::uint64_t>(weight, notes_.ops[id].weight);
    }
    return weight;
  }

 private:
  bool counts(OpId id) const {
    const OpNote& op = notes_.ops[id];
    return id != now_.event.op && is_believed(op, when_) &&
           !count_once(notes_, id, now_.event.op) &&
           !notes_.disturbed(now_.name, std::min(notes_.began(op), notes_.began(now_.op)));
  }

  bool may_count_with_another(OpId id) const {
    return notes_.attempt(id).reentrant || notes_.attempt(id).converts != 0 ||
           notes_.ops[id].converted;
  }

  bool is_counted_before(OpId id) const {
    if (!may_count_with_another(id)) return false;
    for (OpId before = now_.name.leases; before != id; before = notes_.ops[before].next) {
      if (counts(before) && count_once(notes_, before, id)) return true;
    }
    return false;
  }

  std::uint64_t heaviest_of_its_kind(OpId id) const {
    std::uint64_t weight = notes_.ops[id].weight;
    if (!may_count_with_another(id)) return weight;
    for (OpId other = notes_.ops[id].next; other != 0; other = notes_.ops[other].next) {
      if (counts(other) && count_once(notes_, other, id)) {
        weight = std::max<std::uint64_t>(weight, notes_.ops[other].weight);
      }
    }
    return weight;
  }

  Notes& notes_;
  const Moment& now_;
  Time when_;
};

void check_room(Notes& notes, const Moment& now, Time when) {
  const Look look(notes, now, when);
  const Others others = look.others();
  const std::uint64_t own = look.own_weight();
  if (others.heaviest == 0 || own + others.weight <= now.attempt.capacity) return;
  const OpNote& other = notes.ops[others.heaviest];
  notes.report(now.breaks(Rule::no_overlap, others.heaviest),
               "attempt {} believed at {} to have {} of {}, while {} believed to have {} until {}",
               now.event.op, at(when), amount(own), notes.history->names[now.attempt.name - 1],
               others.heaviest, amount(others.weight), at(std::min(other.until, other.end)));
}

void supersede(Notes& notes, const Moment& now, OpId id) {
  OpNote& op = notes.ops[id];
  if (op.superseded != none || count_once(notes, id, now.event.op)) return;
  const std::uint64_t together = std::uint64_t{op.weight} + now.op.weight;
  const bool conflict = together > now.attempt.capacity;
  const bool is_later = notes.first_of(now.op).lease_fence > notes.first_of(op).lease_fence;
  if (!conflict || !is_later) return;
  if (notes.disturbed(now.name, std::min(notes.began(op), notes.began(now.op)))) return;
  op.superseded = now.index;
  op.superseded_by = now.event.op;
  op.had_ended = !is_believed(op, now.event.at);
}

// A lease that its owner has all through the acquire is shared by it.
void check_re_entry(Notes& notes, const Moment& now, OpId id) {
  const OpNote& op = notes.ops[id];
  const bool all_along = is_re_entry(notes.attempt(id), now.attempt) && op.begun < now.op.asked &&
                         is_believed(op, now.event.at) && !notes.disturbed(now.name, op.asked);
  const std::uint64_t fence = notes.first_of(op).lease_fence;
  if (!all_along || fence == now.event.fence) return;
  notes.report(now.breaks(Rule::fences_grow, id),
               "attempt {} re-entered beside {} and got fence {} instead of {}", now.event.op, id,
               now.event.fence, fence);
}

// Whether the list can do without it: nothing that comes later depends on it.
bool is_over(const Notes& notes, const Moment& now, OpId id) {
  const OpNote& op = notes.ops[id];
  if (is_believed(op, now.event.at)) return false;
  return op.releasing < now.index || op.superseded != none || now.attempt.capacity != everything ||
         notes.processes[notes.attempt(id).process].crashed <= now.event.at;
}

// Looks at every lease in the list, and drops those that are over.
void review(Notes& notes, const Moment& now) {
  now.name.weight = 0;
  OpId* link = &now.name.leases;
  while (*link != 0) {
    const OpId id = *link;
    OpNote& op = notes.ops[id];
    if (id != now.event.op) {
      if (now.event.what == What::granted) {
        check_re_entry(notes, now, id);
        if (op.releasing >= now.index) supersede(notes, now, id);
      }
      if (is_over(notes, now, id)) {
        *link = op.next;
        op.listed = false;
        continue;
      }
    }
    now.name.weight += op.weight;
    link = &op.next;
  }
}

void begin(Notes& notes, const Moment& now) {
  now.op.begun = now.index;
  if (!now.op.listed) {
    now.op.listed = true;
    now.op.next = now.name.leases;
    now.name.leases = now.event.op;
    now.name.weight += now.op.weight;
  }
  if (now.name.weight <= now.attempt.capacity) return;
  review(notes, now);
  if (now.name.weight > now.attempt.capacity) check_room(notes, now, now.event.at);
}

// Whatever the store says: nobody believes in more than was asked for. No fault excuses it.
void check_cap(Notes& notes, const Moment& now) {
  const Time most = later(now.event.at, now.attempt.ttl);
  if (now.attempt.ttl == 0 || now.event.until <= most) return;
  notes.report(now.breaks(Rule::no_overlap),
               "attempt {} believed at {} to have a lease until {}, its ttl is {}", now.event.op,
               at(now.event.at), at(now.event.until), at(now.attempt.ttl));
}

// A value that is over when it is told is no belief.
void tell(Notes& notes, const Moment& now) {
  if (now.event.until <= now.event.at) return;
  check_cap(notes, now);
  if (now.event.until > now.op.until) {
    now.op.until = now.event.until;
    now.op.told = now.index;
  }
  OpNote& first = notes.first_of(now.op);
  first.lease_until = std::max(first.lease_until, now.event.until);
}

}  // namespace

void on_asked(Notes& notes, const Moment& now) {
  if (now.attempt.converts == 0 || now.op.lease == now.event.op) return;
  OpNote& converted = notes.ops[now.attempt.converts];
  converted.converted = true;
  notes.first_of(now.op).converted = true;
  // Who asks for less has no use for the rest any more, whatever the answer will be.
  converted.weight = std::min(converted.weight, now.attempt.permits);
}

void on_granted(Notes& notes, const Moment& now) {
  tell(notes, now);
  if (is_believed(now.op, now.event.at)) begin(notes, now);
}

void on_renewed(Notes& notes, const Moment& now) {
  const bool believed = is_believed(now.op, now.event.at);
  tell(notes, now);
  if (now.op.granted > now.index) return;
  if (!believed && is_believed(now.op, now.event.at)) begin(notes, now);
}

void on_used(Notes& notes, const Moment& now, Time decided) {
  if (is_believed(now.op, decided)) return;
  check_room(notes, now, decided);
}

}  // namespace holdfast::history::belief
