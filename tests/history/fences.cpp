// SPDX-License-Identifier: Apache-2.0
//
// C1: fences are unique, and grow in the order of the grants: in the order in which callers could
// see them, and in the order in which the store gave them. A re-entry shares the fence of the lease
// that its owner has, and a conversion may keep its own.
#include "history/notes.hpp"

namespace holdfast::history::fences {

namespace {

// After a loss of data only what was asked for since counts, if the clock was set back as well:
// the store's counter starts again from its clock.
const Mark& promised(const Notes& notes, const Marks& marks) {
  if (!notes.was_set_back || notes.data_lost < 0) return marks.ever;
  static const Mark nothing;
  return marks.loss == notes.data_lost ? marks.since_loss : nothing;
}

void raise(const Notes& notes, Marks& marks, std::uint64_t fence, const Moment& now) {
  marks.ever.raise(fence, now.event.op);
  if (marks.loss != notes.data_lost) {
    marks.since_loss = {};
    marks.loss = notes.data_lost;
  }
  if (static_cast<std::int64_t>(notes.began(now.op)) > notes.data_lost) {
    marks.since_loss.raise(fence, now.event.op);
  }
}

// A store that returned to an older state may have an older lease of the same owner again, and a
// re-entry shares its fence. Nobody is harmed: the resource has seen newer ones.
bool may_join_what_came_back(const Notes& notes, const Moment& now) {
  if (!now.attempt.reentrant || notes.data_lost < 0) return false;
  const Time lost = notes.event(static_cast<Index>(notes.data_lost)).at;
  // Its holder, or a renewal that was on its way, may make it last.
  const Time longest = later(later(times(now.attempt.ttl, 6), second), notes.set_back);
  return now.event.at <= later(lost, longest);
}

// Whether nobody else has the fence, or one who may share it. Notes that this attempt has it.
enum class Sharing : std::uint8_t { alone, re_entry, came_back, wrong };

Sharing share(Notes& notes, const Moment& now, Time entered) {
  FenceNote& note = notes.fences.at(now.event.fence, now.attempt.name);
  const FenceNote before = note;
  note = {now.event.op, before.shared, before.came_back, std::max(note.gone, now.op.gone)};
  if (may_join_what_came_back(notes, now)) note.came_back = true;
  if (note.came_back && (before.op == 0 || is_re_entry(notes.attempt(before.op), now.attempt))) {
    note.shared = true;
    return Sharing::came_back;
  }
  if (before.op == 0) return Sharing::alone;
  if (notes.share_a_lease(before.op, now.event.op)) {
    return before.shared ? Sharing::re_entry : Sharing::alone;
  }
  if (is_re_entry(notes.attempt(before.op), now.attempt) && before.gone >= entered) {
    note.shared = true;
    return Sharing::re_entry;
  }
  const Index first = std::min(notes.began(notes.ops[before.op]), notes.began(now.op));
  if (notes.was_set_back && notes.data_lost > static_cast<std::int64_t>(first)) {
    return Sharing::alone;
  }
  notes.report(now.breaks(Rule::fences_grow, before.op),
               "attempts {} and {} both have fence {} of {}", before.op, now.event.op,
               now.event.fence, notes.history->names[now.attempt.name - 1]);
  return Sharing::wrong;
}

// A conversion keeps the fence of the lease, or gets a new one that is the largest of all. To get
// more than one had is to get a new one.
bool keeps_its_fence(Notes& notes, const Moment& now) {
  if (now.attempt.converts == 0 || now.event.fence != notes.first_of(now.op).lease_fence) {
    return false;
  }
  const OpNote& converted = notes.ops[now.attempt.converts];
  return now.attempt.permits <= notes.attempt(now.attempt.converts).permits ||
         converted.granted == none || notes.event(converted.granted).fence != now.event.fence;
}

void check_against_the_store(Notes& notes, const Moment& now) {
  if (now.op.held == none || now.attempt.converts != 0 || now.op.converted) return;
  if (notes.disturbed(now.name, now.op.asked)) return;
  const std::uint64_t fence = now.event.fence;
  if (fence >= now.op.least_held_fence && fence <= now.op.held_fence) return;
  notes.report(now.breaks(Rule::fences_grow), "attempt {} was told fence {}, the store gave it {}",
               now.event.op, fence, now.op.held_fence);
}

// A hold that ended may be given anew under the same request, and then with a new fence.
void check_change(Notes& notes, const Moment& now) {
  const OpNote& op = now.op;
  if (op.held == none || op.converted || notes.disturbed(now.name, op.held)) return;
  const Time slack = later(now.attempt.ttl / 50, second / 1000);
  if (!op.in_store || op.held_until <= later(now.event.at, slack)) return;
  notes.report(now.breaks(Rule::fences_grow),
               "the store changed the fence of attempt {} from {} to {}", now.event.op,
               op.held_fence, now.event.fence);
}

}  // namespace

void on_asked(const Moment& now) { now.op.floor = now.name.told; }

bool on_granted(Notes& notes, const Moment& now) {
  const std::uint64_t fence = now.event.fence;
  // What the store gave was compared when it gave it.
  const Time entered = now.op.held == none ? notes.event(now.op.asked).at : long_ago;
  const Sharing sharing = share(notes, now, entered);
  const Mark& floor = promised(notes, now.op.floor);
  const bool too_small = sharing == Sharing::re_entry ? fence < floor.fence : fence <= floor.fence;
  const bool excused = keeps_its_fence(notes, now) || sharing == Sharing::came_back;
  if (sharing != Sharing::wrong && too_small && !excused) {
    notes.report(now.breaks(Rule::fences_grow, floor.op),
                 "attempt {} got fence {}, but {} had got {} before it was asked for", now.event.op,
                 fence, floor.op, floor.fence);
  }
  const bool disturbed = notes.disturbed(now.name, notes.began(now.op));
  if (now.attempt.converts != 0 && !disturbed && fence < notes.first_of(now.op).lease_fence) {
    notes.report(now.breaks(Rule::fences_grow, now.attempt.converts),
                 "attempt {} converted a lease with fence {} and got {}", now.event.op,
                 notes.first_of(now.op).lease_fence, fence);
  }
  check_against_the_store(notes, now);
  notes.first_of(now.op).lease_fence = fence;
  raise(notes, now.name.told, fence, now);
  return sharing == Sharing::re_entry || sharing == Sharing::came_back;
}

void on_renewed(Notes& notes, const Moment& now) {
  OpNote& first = notes.first_of(now.op);
  const std::uint64_t fence = now.event.fence;
  if (fence == 0 || now.op.granted == none || fence == first.lease_fence) return;
  if (now.op.converted || now.attempt.converts != 0) {
    first.lease_fence = std::max(first.lease_fence, fence);
    return;
  }
  notes.report(now.breaks(Rule::fences_grow), "attempt {} has fence {}, and was renewed with {}",
               now.event.op, first.lease_fence, fence);
}

bool on_held(Notes& notes, const Moment& now) {
  OpNote& op = now.op;
  const std::uint64_t fence = now.event.fence;
  if (op.held != none && op.held_fence == fence) return false;
  const Sharing sharing = share(notes, now, now.event.at);
  check_change(notes, now);
  // A store that returned to an older state may return to an older fence of the same lease.
  const bool is_old = op.held != none && fence < op.held_fence && fence >= op.least_held_fence &&
                      notes.disturbed(now.name, op.held);
  const Mark& mark = promised(notes, now.name.held);
  const bool too_small = sharing == Sharing::re_entry ? fence < mark.fence : fence <= mark.fence;
  const bool excused = is_old || keeps_its_fence(notes, now) || sharing == Sharing::came_back;
  if (sharing != Sharing::wrong && too_small && !excused) {
    notes.report(now.breaks(Rule::fences_grow, mark.op),
                 "the store gave attempt {} fence {} after it had given {} to {}", now.event.op,
                 fence, mark.fence, mark.op);
  }
  raise(notes, now.name.held, fence, now);
  op.least_held_fence = op.held == none ? fence : std::min(op.least_held_fence, fence);
  return sharing == Sharing::re_entry || sharing == Sharing::came_back;
}

}  // namespace holdfast::history::fences
