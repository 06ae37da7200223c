// SPDX-License-Identifier: Apache-2.0
#include "history/check.hpp"

#include "history/notes.hpp"

#include <algorithm>
#include <tuple>

namespace holdfast::history {

namespace {

void on_held(Notes& notes, const Moment& now) {
  const bool re_entry = fences::on_held(notes, now);
  leases::on_held(notes, now);
  line::on_served(notes, now, re_entry);
}

void on_granted(Notes& notes, const Moment& now) {
  if (now.op.granted != now.index) return;
  const bool re_entry = fences::on_granted(notes, now);
  belief::on_granted(notes, now);
  needless::on_granted(now);
  line::on_served(notes, now, re_entry);
}

void on_renewed(Notes& notes, const Moment& now) {
  fences::on_renewed(notes, now);
  leases::on_renewed(notes, now);
  deadlines::on_renewed(notes, now);
  needless::on_renewed(now);
  belief::on_renewed(notes, now);
}

Moment moment(Notes& notes, Index index) {
  const Event& event = notes.event(index);
  const Attempt& attempt = notes.attempt(event.op);
  return {index, event, attempt, notes.ops[event.op], notes.names[attempt.name]};
}

void follow_attempt(Notes& notes, const Moment& now) {
  // Whoever never began is reported already.
  if (now.op.asked > now.index) return;
  switch (now.event.what) {
    case What::asked:
      fences::on_asked(now);
      belief::on_asked(notes, now);
      break;
    case What::queued: line::on_queued(notes, now); break;
    case What::granted: on_granted(notes, now); break;
    case What::renewing: leases::on_renewing(notes, now); break;
    case What::renewed: on_renewed(notes, now); break;
    case What::failed:
      line::on_left(notes, now);
      answers::on_failed(notes, now);
      break;
    case What::released: leases::on_released(notes, now); break;
    case What::lost: needless::on_lost(notes, now); break;
    case What::read:
    case What::wrote:
      if (now.event.since == 0 || now.event.since >= now.event.at) {
        belief::on_used(notes, now, now.event.at);
      }
      resource::on_used(notes, now);
      break;
    case What::held: on_held(notes, now); break;
    case What::freed: leases::on_freed(notes, now); break;
    case What::self_blocked: leases::on_self_blocked(notes, now); break;
    default: break;
  }
}

void follow_fault(Notes& notes, Index index, const Event& event) {
  if (event.what != What::forced) {
    Time& until = notes.processes[event.process].fault_until;
    until = std::max({until, event.at, event.until});
  }
  switch (event.what) {
    case What::data_lost: notes.data_lost = index; break;
    case What::clock_stepped:
      notes.stepped = index;
      notes.was_set_back = notes.was_set_back || event.number < 0;
      break;
    case What::forced: {
      NameNote& name = notes.names[event.name];
      name.forced = index;
      name.forced_fence = event.fence;
      name.resource.raise(event.fence, 0);
      break;
    }
    default: break;
  }
}

void follow(Notes& notes) {
  const auto& events = notes.history->events;
  std::size_t use = 0;
  for (Index index = 0; index < events.size(); ++index) {
    const Event& event = events[index];
    while (use < notes.uses.size() && notes.uses[use].decided < event.at) {
      const Use& due = notes.uses[use++];
      belief::on_used(notes, moment(notes, due.event), due.decided);
    }
    if (event.what < What::unreachable)
      follow_attempt(notes, moment(notes, index));
    else if (event.what < What::calm)
      follow_fault(notes, index, event);
  }
}

}  // namespace

std::string_view to_string(Rule rule) {
  switch (rule) {
    case Rule::fences_grow: return "C1 fences_grow";
    case Rule::no_overlap: return "C2 no_overlap";
    case Rule::renewals_end: return "C3 renewals_end";
    case Rule::released_once: return "C4 released_once";
    case Rule::old_fence_refused: return "C5 old_fence_refused";
    case Rule::orphans_vanish: return "C6 orphans_vanish";
    case Rule::first_come_first_served: return "C7 first_come_first_served";
    case Rule::nothing_lost: return "C8 nothing_lost";
    case Rule::loss_told_in_time: return "C9 loss_told_in_time";
    case Rule::everybody_served: return "C10 everybody_served";
    case Rule::needless_loss: return "C11 needless_loss";
    case Rule::untrue_answer: return "C12 untrue_answer";
    case Rule::well_formed: return "well_formed";
  }
  return "unknown rule";
}

struct Checker::State {
  Notes notes;
};

Checker::Checker() : state_(std::make_unique<State>()) {}
Checker::~Checker() = default;

std::size_t Checker::found() const { return state_->notes.count; }

std::vector<Violation> Checker::check(const History& history, std::size_t limit) {
  Notes& notes = state_->notes;
  notes.start(history, limit);
  if (survey(notes)) {
    follow(notes);
    leases::at_the_end(notes);
    deadlines::at_the_end(notes);
  }
  if (notes.found.empty()) return {};
  std::ranges::sort(notes.found, {}, [](const Violation& violation) {
    return std::tuple(violation.rule, violation.event, violation.op, violation.other);
  });
  if (notes.found.size() > limit) notes.found.resize(limit);
  return std::move(notes.found);
}

}  // namespace holdfast::history
