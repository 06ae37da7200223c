// SPDX-License-Identifier: Apache-2.0
//
// C11: a lease is not lost while its process runs and its store answers, each up to a third of the
// time that the lease is good for, unless something in the history ended it.
#include "history/notes.hpp"

namespace holdfast::history::needless {

namespace {

// A hand-over is confirmed in the background so long after it started, at the latest. A process
// that is stopped before could not send the confirmation.
constexpr Time confirm_delay = 10'000'000;
// So long a store keeps what it handed over and nobody confirmed.
constexpr Time claim = second / 2;

struct Window {
  Time from = 0;
  Time to = 0;
};

// The time of the window that lies in some of the spans, which are in order of their beginning.
class Covered {
 public:
  explicit Covered(Window window) : window_(window), last_(window.from) {}
  void add(Time from, Time until) {
    from = std::max(from, last_);
    until = std::min(until, window_.to);
    if (until <= from) return;
    sum_ += until - from;
    last_ = until;
  }
  Time sum() const { return sum_; }

 private:
  const Window window_;
  Time last_;
  Time sum_ = 0;
};

bool has_happened(const Notes& notes, std::int64_t index, Time since) {
  return index >= 0 && notes.event(static_cast<Index>(index)).at >= since;
}

// A claim is as old as the store's step, however late its process heard of it.
Time last_known(const Notes& notes, const Moment& now) {
  const bool is_claim = now.op.claimed && now.op.first_held != none;
  return is_claim ? std::min(now.op.answered, notes.event(now.op.first_held).at) : now.op.answered;
}

bool was_ended(const Notes& notes, const Moment& now) {
  const Time since = last_known(notes, now);
  if (has_happened(notes, notes.data_lost, since) || has_happened(notes, notes.stepped, since) ||
      has_happened(notes, now.name.forced, since)) {
    return true;
  }
  if (now.op.freed != none && now.op.freed < now.index && notes.event(now.op.freed).at >= since) {
    return true;
  }
  const Attempt& attempt = now.attempt;
  const Time began = notes.event(now.op.granted).at;
  return attempt.max_hold != 0 &&
         now.event.at >= later(later(began, attempt.max_hold), -attempt.ttl);
}

Time stopped_for(const Notes& notes, ProcessId process, Window window) {
  Covered covered(window);
  for (const Stop& stop : notes.stops) {
    if (stop.at > window.to) break;
    if (stop.process == process) covered.add(stop.at, stop.until);
  }
  return covered.sum();
}

bool stopped_before_it_could_confirm(const Notes& notes, const Moment& now) {
  const Time started = notes.event(now.op.granted).at;
  return std::ranges::any_of(notes.stops, [&](const Stop& stop) {
    return stop.process == now.attempt.process && stop.at <= started + confirm_delay &&
           stop.until >= started;
  });
}

bool concerns(const Trouble& trouble, const Moment& now) {
  return trouble.process == 0 || trouble.process == now.attempt.process;
}

// The store keeps a claim for a moment only, if it hears nothing: behind a line that is slow, or
// that was until a moment ago and has a backlog, the confirmation comes too late.
bool could_not_confirm(const Notes& notes, const Moment& now) {
  if (stopped_before_it_could_confirm(notes, now)) return true;
  const Time recently = now.op.answered - now.op.worth / 3;
  return std::ranges::any_of(notes.troubles, [&](const Trouble& trouble) {
    return trouble.delays && trouble.at <= now.event.at && trouble.until >= recently &&
           concerns(trouble, now) && trouble.until - trouble.at > claim / 3;
  });
}

Time delayed_for(const Notes& notes, const Moment& now, Window window) {
  Covered covered(window);
  for (const Trouble& trouble : notes.troubles) {
    if (trouble.at > window.to) break;
    if (trouble.delays && concerns(trouble, now)) covered.add(trouble.at, trouble.until);
  }
  return covered.sum();
}

bool may_have_lost_something(const Notes& notes, const Moment& now, Window window) {
  for (const Trouble& trouble : notes.troubles) {
    if (trouble.at > window.to) break;
    const Time until = std::max(trouble.at, trouble.until);
    if (!trouble.delays && until >= window.from && concerns(trouble, now)) return true;
  }
  return false;
}

// Whether a question of the lease, or its answer, may have been lost on its way.
bool was_not_answered(const Notes& notes, const Moment& now, Window window, Time patience) {
  if (!notes.has_renewals || now.op.claimed) return may_have_lost_something(notes, now, window);
  for (Index index = now.index; index-- > 0;) {
    const Event& event = notes.event(index);
    if (event.at < window.from) break;
    if (event.what != What::renewing || event.op != now.event.op) continue;
    const Window asking{event.at, std::min(later(event.at, patience), window.to)};
    if (may_have_lost_something(notes, now, asking)) return true;
  }
  return false;
}

}  // namespace

// Of a lease that was told late, by a repeated question or a slow answer, nothing is promised until
// it is renewed.
void on_granted(const Moment& now) {
  const Event& event = now.event;
  const Time left = event.until - event.at;
  const bool was_late = !event.claim && left < now.attempt.ttl / 3 * 2;
  now.op.claimed = event.claim;
  now.op.worth = event.claim ? now.attempt.ttl : was_late ? 0 : left;
  now.op.answered = std::min(event.at, event.until - (event.claim ? claim : now.attempt.ttl));
}

// An answer that only confirms what was known gives no more time, and what is left by then may be
// too little for another question.
void on_renewed(const Moment& now) {
  const Event& event = now.event;
  const Time left = std::max(event.until, now.op.until) - event.since;
  now.op.claimed = false;
  now.op.answered = event.since;
  now.op.worth = left < now.attempt.ttl / 4 ? 0 : left;
}

void on_lost(Notes& notes, const Moment& now) {
  const bool was_let_go = now.op.releasing != none && now.op.releasing < now.index;
  if (!now.attempt.renews || now.op.granted == none || now.op.granted > now.index) return;
  if (was_let_go || now.op.worth == 0 || was_ended(notes, now)) return;
  const Window window{now.op.answered, now.event.at};
  const Time least = now.attempt.least_ttl;
  const Time patience = (least != 0 ? std::min(least, now.op.worth) : now.op.worth) / 3;
  const Time stopped = stopped_for(notes, now.attempt.process, window);
  const Time delayed = delayed_for(notes, now, window);
  if (later(stopped, delayed) > patience) return;
  if (now.op.claimed && could_not_confirm(notes, now)) return;
  if (was_not_answered(notes, now, window, patience)) return;
  notes.report(now.breaks(Rule::needless_loss),
               "attempt {} was lost at {}, although since its answer of {} its process was stopped "
               "for {} and the store out of reach for {}, both within a third of {}",
               now.event.op, at(now.event.at), at(now.op.answered), at(stopped), at(delayed),
               at(now.op.worth));
}

}  // namespace holdfast::history::needless
