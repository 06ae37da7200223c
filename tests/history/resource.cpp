// SPDX-License-Identifier: Apache-2.0
//
// C5: the resource takes no older fence after a newer one, and only fences that were granted. C8:
// increments through it add up.
#include "history/notes.hpp"

namespace holdfast::history::resource {

namespace {

void check_fence(Notes& notes, const Moment& now) {
  const std::uint64_t fence = now.event.fence;
  const bool granted = now.op.granted < now.index && (fence == notes.event(now.op.granted).fence ||
                                                      fence == notes.first_of(now.op).lease_fence);
  if (!granted) {
    notes.report(now.breaks(Rule::old_fence_refused),
                 "attempt {} used fence {}, never granted to it", now.event.op, fence);
  } else if (now.op.ousted) {
    notes.report(now.breaks(Rule::old_fence_refused),
                 "the resource took fence {} of attempt {}, which an operator had ousted", fence,
                 now.event.op);
  }
  if (fence < now.name.resource.fence) {
    notes.report(now.breaks(Rule::old_fence_refused, now.name.resource.op),
                 "the resource took fence {} of attempt {} after {} of {}", fence, now.event.op,
                 now.name.resource.fence, now.name.resource.op);
  }
  now.name.resource.raise(fence, now.event.op);
}

void check_value(Notes& notes, const Moment& now) {
  const bool wrote = now.event.what == What::wrote;
  const std::int64_t expected = later(now.name.value, wrote ? 1 : 0);
  if (now.name.value_by != 0 && now.event.number != expected) {
    notes.report(now.breaks(Rule::nothing_lost, now.name.value_by),
                 "attempt {} {} {}, where {} left {}", now.event.op, wrote ? "wrote" : "read",
                 now.event.number, now.name.value_by, now.name.value);
  }
  // A wrong read is one violation, not the first of many.
  if (!wrote && now.name.value_by != 0) return;
  now.name.value = now.event.number;
  now.name.value_by = now.event.op;
}

}  // namespace

void on_used(Notes& notes, const Moment& now) {
  // A store that lost its data and whose clock was set back gives out old fences again.
  if (!now.event.accepted || (notes.was_set_back && notes.data_lost >= 0)) return;
  check_fence(notes, now);
  check_value(notes, now);
}

}  // namespace holdfast::history::resource
