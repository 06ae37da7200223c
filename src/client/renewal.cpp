// SPDX-License-Identifier: Apache-2.0
#include "client/renewal.hpp"

#include <holdfast/options.hpp>

#include "runtime/backoff.hpp"

#include <algorithm>

namespace holdfast::client {

namespace {

// A hold of a few milliseconds costs no third command; a longer one is worth its ttl from then on,
// whatever becomes of its process.
constexpr Micros confirm_delay = std::chrono::milliseconds(5);

}  // namespace

RenewalPlan::RenewalPlan(Terms terms, LocalTime since, LocalTime valid_until,
                         std::optional<Micros> claim)
    : terms_(terms),
      since_(since),
      valid_until_(valid_until),
      unconfirmed_(claim.has_value()),
      // What an adopted lease asked for is not known; what it has left is.
      longest_asked_(std::max(terms.ttl, std::chrono::ceil<Micros>(valid_until - since))),
      last_answer_(since) {
  const Micros first = claim ? std::min({confirm_delay, *claim / 3, every()}) : every();
  plan_next(since, first);
}

// Little may be left of the lease already, after a slow answer or a repeated acquire: never later
// than half of it.
void RenewalPlan::plan_next(LocalTime from, Micros after) {
  const LocalTime half_time = from + (valid_until_ - from) / 2;
  const LocalTime when = std::min<LocalTime>(from + after, half_time);
  const auto delay = std::chrono::floor<Micros>(when - from);
  next_renewal_ = wants_to_ask() ? together(when, delay) : LocalTime::max();
}

Micros RenewalPlan::every() const {
  return terms_.renew_every > Micros::zero() ? terms_.renew_every : terms_.ttl / 3;
}

LocalTime RenewalPlan::lost_at() const { return valid_until_ - lost_margin(terms_.ttl); }

LocalTime RenewalPlan::patience(LocalTime now) const {
  return std::min<LocalTime>(lost_at(), now + std::max(command_timeout, terms_.ttl / 3));
}

LocalTime RenewalPlan::next_event() const {
  return in_flight_ ? lost_at() : std::min(lost_at(), next_renewal_);
}

std::optional<Micros> RenewalPlan::ttl_due(LocalTime now) const {
  return is_doubted() ? ttl_to_confirm(now) : ttl_to_ask(now);
}

std::optional<Micros> RenewalPlan::ttl_to_ask(LocalTime now) const {
  if (terms_.max_hold == Micros::zero()) return terms_.ttl;
  const Micros left = std::chrono::floor<Micros>(since_ + terms_.max_hold - now);
  if (left < min_ttl) return std::nullopt;
  return std::min(terms_.ttl, left);
}

Micros RenewalPlan::ttl_to_confirm(LocalTime now) const {
  // For less, the answer would put off the renewal that is due.
  return wants_renewal() ? ttl_to_ask(now).value_or(min_ttl) : min_ttl;
}

void RenewalPlan::sent() { in_flight_ = true; }

void RenewalPlan::renewed(const Answer& answer) {
  in_flight_ = false;
  failures_ = 0;
  unconfirmed_ = false;
  longest_asked_ = std::max(longest_asked_, answer.asked);
  const Micros remaining = std::min(answer.remaining, longest_asked_);
  const LocalTime until = client::valid_until(answer.before_send, remaining, terms_.drift);
  // An older answer may come after a newer one. But a question that was asked after the last answer
  // had come, and is told of an earlier end than we believe in, shows that the store's clock was
  // set.
  const bool is_newest = answer.before_send >= last_answer_;
  const bool contradicts = answer.received + remaining < valid_until_;
  valid_until_ = is_newest && contradicts ? until : std::max(valid_until_, until);
  last_answer_ = std::max(last_answer_, answer.received);
  last_answered_ = std::max(last_answered_, answer.before_send);
  plan_next(answer.before_send, every());
}

void RenewalPlan::failed(LocalTime now, std::uint64_t random) {
  in_flight_ = false;
  if (!wants_to_ask()) return;
  const runtime::Backoff backoff{
      .first = std::min<Micros>(every() / 8, std::chrono::milliseconds(50)),
      .cap = std::chrono::milliseconds(500)};
  // An extension that failed does not put off the renewal that is due anyway.
  const bool is_planned = failures_ == 0 && next_renewal_ > now;
  const LocalTime again = now + next_delay(backoff, failures_++, random);
  next_renewal_ = is_planned ? std::min(next_renewal_, again) : again;
}

void RenewalPlan::stop_renewing() {
  terms_.renew = false;
  unconfirmed_ = false;
  next_renewal_ = LocalTime::max();
}

}  // namespace holdfast::client
