// SPDX-License-Identifier: Apache-2.0
#include "backends/quorum/round.hpp"

#include "runtime/spawn.hpp"
#include "text/quote.hpp"

#include <fmt/format.h>

namespace holdfast::backends::quorum {

namespace {

using Verdict = Ballot::Verdict;

// The address stands in front of every verdict, so that a store need not repeat it.
std::string reason_without(std::string_view address, std::string_view reason) {
  return std::string(text::without_peer(reason, address.substr(0, address.find('/'))));
}

Ballot from(const Error& error, std::string_view address, bool is_late) {
  Ballot ballot{.verdict = Verdict::refused, .reason = reason_without(address, error.message)};
  if (error.code == Errc::unavailable || error.code == Errc::cancelled) {
    ballot.verdict = Verdict::unreachable;
  } else if (error.code == Errc::outcome_unknown) {
    ballot.verdict = is_late ? Verdict::too_slow : Verdict::unreachable;
  }
  return ballot;
}

Ballot from(const model::LockOutcome& outcome) {
  if (const auto* granted = std::get_if<model::Granted>(&outcome)) {
    return {.verdict = Verdict::yes,
            .fence = granted->fence,
            .remaining = granted->remaining,
            .held_for = granted->held_for};
  }
  if (const auto* busy = std::get_if<model::Busy>(&outcome)) {
    return {.verdict = Verdict::held, .retry_after = busy->retry_after};
  }
  if (const auto* queued = std::get_if<model::Queued>(&outcome)) {
    return {.verdict = Verdict::held, .retry_after = queued->retry_after};
  }
  if (const auto* refused = std::get_if<model::Refused>(&outcome)) {
    return {.verdict = Verdict::refused, .reason = refused->error.message};
  }
  const bool is_gone = std::holds_alternative<model::NotHeld>(outcome) ||
                       std::holds_alternative<model::NotOwner>(outcome);
  return {.verdict = is_gone ? Verdict::gone : Verdict::yes};
}

}  // namespace

const model::LockOutcome* Answers::outcome(std::size_t member) const {
  const auto& reply = replies[member];
  return reply ? std::get_if<model::LockOutcome>(&reply->outcome) : nullptr;
}

Round::Round(std::shared_ptr<const Members> members, std::shared_ptr<runtime::Runtime> runtime,
             Rules rules)
    : members_(std::move(members)),
      runtime_(std::move(runtime)),
      rules_(std::move(rules)),
      decided_(runtime_) {
  answers_.ballots.resize(members_->size());
  answers_.replies.assign(members_->size(), fail(Errc::outcome_unknown, "no answer yet"));
}

Task<Answers> Round::run(std::shared_ptr<Round> round, Question question, Adapt adapt) {
  const LocalTime now = round->runtime_->now();
  round->slow_from_ = now + (question.deadline - now) * 3 / 4;
  for (std::size_t at = 0; at < round->members_->size(); ++at) {
    store::Request request{.name = question.name,
                           .command = question.command,
                           .deadline = question.deadline,
                           .stop = question.stop};
    if (adapt) adapt(at, std::get<model::LockCommand>(request.command));
    auto asking = (*round->members_)[at]->store->apply(std::move(request));
    runtime::spawn(std::move(asking),
                   [round, at](Result<Reply>&& reply) { round->put(at, std::move(reply)); });
  }
  round->all_are_asked();
  // Every store ends what it was asked by the deadline, so that this needs no timer of its own.
  co_await round->decided_.wait_until(LocalTime::max());
  const std::lock_guard lock(round->mutex_);
  co_return std::move(round->answers_);
}

void Round::put(std::size_t member, Result<Reply> reply) {
  Ballot ballot = judge(member, reply);
  std::unique_lock lock(mutex_);
  if (is_over_) {
    lock.unlock();
    if (rules_.late) rules_.late(member, ballot, reply);
    return;
  }
  answers_.ballots[member] = std::move(ballot);
  answers_.replies[member] = std::move(reply);
  is_over_ = is_asked_ && is_decided();
  const bool is_over = is_over_;
  lock.unlock();
  if (is_over) decided_.notify();
}

// Not over before: a store may answer while it is asked, and what the last ones say then is as good
// as what the first ones said.
void Round::all_are_asked() {
  std::unique_lock lock(mutex_);
  is_asked_ = true;
  is_over_ = is_decided();
  const bool is_over = is_over_;
  lock.unlock();
  if (is_over) decided_.notify();
}

bool Round::is_decided() const {
  if (count(answers_.ballots, Verdict::pending) == 0) return true;
  if (rules_.until == Until::all || !is_settled(answers_.ballots)) return false;
  const bool is_carried = rule(answers_.ballots) == Ruling::carried;
  return rules_.until == Until::certain || !is_carried || agreed_fence(answers_.ballots);
}

// A member that may have forgotten something is asked like all others, and its no is a no.
Ballot Round::judge(std::size_t member, const Result<Reply>& reply) const {
  const LocalTime now = runtime_->now();
  Member& asked = *(*members_)[member];
  if (!reply) return from(reply.error(), asked.address, now >= slow_from_);
  const auto* outcome = std::get_if<model::LockOutcome>(&reply->outcome);
  Ballot ballot = outcome ? from(*outcome) : Ballot{.verdict = Verdict::yes};
  if (!asked.is_known() && asked.look_again(now) && rules_.learned) rules_.learned();
  asked.heard(now);
  if (ballot.verdict != Verdict::yes || rules_.stake == Stake::nothing) return ballot;
  if (auto reason = asked.why_not_counted(now, rules_.stake, rules_.ttl, rules_.grace)) {
    ballot.verdict = Verdict::refused;
    ballot.reason = std::move(*reason);
  } else if (!rules_.counted.test(member)) {
    ballot.verdict = Verdict::refused;
    ballot.reason = "has it as a shared lease";
  } else if (rules_.fence != 0 && ballot.fence != rules_.fence) {
    ballot.verdict = Verdict::other_fence;
  }
  return ballot;
}

std::string explain(const Members& members, const std::vector<Ballot>& ballots,
                    std::string_view done) {
  std::string each;
  for (std::size_t at = 0; at < members.size(); ++at) {
    const Ballot& ballot = ballots[at];
    if (!each.empty()) each += ", ";
    const auto verdict = ballot.verdict == Verdict::yes ? done : to_string(ballot.verdict);
    each += fmt::format("{} {}", members[at]->address, verdict);
    if (!ballot.reason.empty()) each += fmt::format(" ({})", ballot.reason);
  }
  return fmt::format("quorum not reached: {} of {} members {} it, {} are needed: {}",
                     count(ballots, Verdict::yes), members.size(), done,
                     majority_of(members.size()), each);
}

}  // namespace holdfast::backends::quorum
