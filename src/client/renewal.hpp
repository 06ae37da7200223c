// SPDX-License-Identifier: Apache-2.0
//
// When to renew and when to stop believing: decided here, without a clock or a store.
#pragma once

#include "client/validity.hpp"

#include <algorithm>
#include <optional>

namespace holdfast::client {

struct Terms {
  Micros ttl{};
  bool renew = true;
  Micros renew_every{};  // 0: a third of the ttl
  Micros max_hold{};     // 0: no limit
  Drift drift{};
};

// What one lease knows of its own time.
class RenewalPlan {
 public:
  RenewalPlan(Terms terms, LocalTime since, LocalTime valid_until, std::optional<Micros> claim);

  LocalTime valid_until() const { return valid_until_; }
  // The lease counts as lost from here on. Before valid_until, so that the signal is out in time.
  LocalTime lost_at() const;
  // A question is worth waiting for until then: sooner than the lease is lost there is no hurry,
  // and a store that is slow is not helped by questions that are asked twice.
  LocalTime patience(LocalTime now) const;
  // The next moment at which something has to be done.
  LocalTime next_event() const;
  bool renewal_due(LocalTime now) const { return !in_flight_ && now >= next_renewal_; }
  // What the question that is due asks for; nothing if it need not be asked any more.
  std::optional<Micros> ttl_due(LocalTime now) const;
  // What a renewal sent now may ask for; nothing once max_hold leaves too little.
  std::optional<Micros> ttl_to_ask(LocalTime now) const;
  // The same for a renewal that only asks whether the lease is still known. It never shortens, so
  // that the smallest ttl does, unless a claim waits to become a lease.
  Micros ttl_to_confirm(LocalTime now) const;
  bool reached_max_hold(LocalTime now) const { return wants_renewal() && !ttl_to_ask(now); }

  void sent();
  bool is_in_flight() const { return in_flight_; }
  // Whether a question that was asked at `since` or later has been answered.
  bool is_known_since(LocalTime since) const { return last_answered_ >= since; }
  // The store may have forgotten what it granted before `since`: it is asked until it answers.
  void doubt(LocalTime since) { doubted_since_ = std::max(doubted_since_, since); }
  LocalTime doubted_since() const { return doubted_since_; }
  bool is_doubted() const { return !is_known_since(doubted_since_); }
  // An answer to a question that asked for `asked`. The lease is never believed in for longer than
  // the longest ttl it asked for: a store whose clock was set back tells more than it will keep.
  struct Answer {
    LocalTime before_send{};
    LocalTime received{};
    Micros asked{};
    Micros remaining{};
  };
  void renewed(const Answer& answer);
  void failed(LocalTime now, std::uint64_t random);
  // No more renewals: max_hold is near.
  void stop_renewing();
  void change_ttl(Micros ttl) { terms_.ttl = ttl; }
  Micros ttl() const { return terms_.ttl; }
  // Handed over, and not yet ours for the whole ttl.
  bool is_unconfirmed() const { return unconfirmed_; }

 private:
  bool wants_renewal() const { return terms_.renew || unconfirmed_; }
  bool wants_to_ask() const { return wants_renewal() || is_doubted(); }
  void plan_next(LocalTime from, Micros after);
  Micros every() const;

  Terms terms_;
  LocalTime since_;
  LocalTime valid_until_;
  LocalTime next_renewal_;
  bool unconfirmed_;  // a claim: it takes one renewal even where none was asked for
  bool in_flight_ = false;
  unsigned failures_ = 0;
  Micros longest_asked_;
  LocalTime last_answer_;
  LocalTime last_answered_ = LocalTime::min();  // when the newest question with an answer was sent
  LocalTime doubted_since_ = LocalTime::min();
};

}  // namespace holdfast::client
