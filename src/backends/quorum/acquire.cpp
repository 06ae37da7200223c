// SPDX-License-Identifier: Apache-2.0
//
// Asks all members for the lock. A majority must grant it; then the largest fence of those that did
// is proposed to all of them, and a majority must still have the lock, with that fence for it alone
// and with time left. Otherwise everything is given back.
#include <holdfast/options.hpp>

#include "backends/quorum/quorum.hpp"
#include "runtime/spawn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

namespace holdfast::backends::quorum {

namespace {

using Verdict = Ballot::Verdict;

// What became of an attempt, for answers that come later.
enum class Fate : std::uint8_t { open, won, lost };

// Whether a member may have granted it.
bool may_have_it(const Ballot& ballot, const Result<Reply>& reply) {
  if (!reply) return reply.error().code == Errc::outcome_unknown;
  return ballot.remaining > Micros::zero();
}

// A repeated request of a lease that we have: whatever becomes of it, the lease stays.
bool is_held(const Quorum& quorum, const LockName& name, const OwnerId& owner,
             model::RequestId request) {
  const auto known = quorum.leases().find(name, owner, request);
  return known && quorum.now() < known->valid_until;
}

class Acquiring {
 public:
  Acquiring(QuorumPtr quorum, store::Request request)
      : quorum_(std::move(quorum)),
        request_(std::move(request)),
        began_(quorum_->now()),
        ear_(wanted().wait ? quorum_->find_ear(wanted().process) : nullptr) {
    if (const auto known = quorum_->leases().find(name(), wanted().owner, wanted().request)) {
      may_be_at_ = known->may_be_at;
    }
  }

  Task<Answers> vote();
  // A vote that was carried.
  void note_where(const Answers& answers);
  Agreement agreement_on(Fence fence) const;
  Result<Reply> granted(Fence fence, LocalTime ends, std::optional<Micros> held);
  Result<Reply> lost(const Answers& answers);
  Result<Reply> not_confirmed(const Answers& confirmed);

  LocalTime began() const { return began_; }
  // A re-entry goes on from there: members may have been told an older one again meanwhile.
  Fence fence_of_owner() const {
    return command().spec.kind == Kind::reentrant
               ? quorum_->leases().largest_fence(name(), wanted().owner)
               : 0;
  }

 private:
  const model::LockCommand& command() const {
    return std::get<model::LockCommand>(request_.command);
  }
  const model::Acquire& wanted() const { return std::get<model::Acquire>(command().verb); }
  const LockName& name() const { return request_.name; }
  model::LockSpec spec_for_members() const;
  // How long a member that is not told keeps what it may have of it.
  Micros lasts() const {
    const bool in_line = stands_in_line_ && wanted().ttl < model::limits::queue_ttl;
    return in_line ? model::limits::queue_ttl : wanted().ttl;
  }
  // Members that forgot the owner's other lease mint a fence for this one: a majority that knows it
  // is worth waiting for.
  bool enters_again() const {
    return command().spec.kind == Kind::reentrant &&
           quorum_->leases().knows(name(), wanted().owner);
  }
  model::LockCommand for_members() const;
  Round::Rules rules() const;
  void stand_in_line();
  void take_back(std::size_t member);
  void take_back(const Answers& answers);
  void take_back_everywhere();
  std::optional<model::LockOutcome> refusal(const Answers& answers) const;
  model::LockOutcome contended(const Answers& answers);

  const QuorumPtr quorum_;
  const store::Request request_;
  const LocalTime began_;
  const std::shared_ptr<Ear> ear_;
  bool is_first_question_ = false;  // of a waiter
  bool stands_in_line_ = false;     // this question asks for a place
  MemberSet may_be_at_;
  const std::shared_ptr<std::atomic<Fate>> fate_ = std::make_shared<std::atomic<Fate>>(Fate::open);
};

// Whatever order was asked for: members know nothing of each other, so there is no common queue.
model::LockSpec Acquiring::spec_for_members() const {
  model::LockSpec spec = command().spec;
  spec.order = Order::barging;
  return spec;
}

model::LockCommand Acquiring::for_members() const {
  model::LockCommand out = command();
  out.spec = spec_for_members();
  auto& verb = std::get<model::Acquire>(out.verb);
  verb.wait = false;
  verb.place = 0;
  verb.process = model::ProcessId::none;
  return out;
}

void Acquiring::stand_in_line() {
  stands_in_line_ = true;
  quorum_->leave_line(*ear_, name(), wanted().owner);
  ear_->register_as(quorum_->members(), name(), wanted().owner, wanted().request, began_);
}

// An answer that comes when everything was given back: the order of the two may have been lost.
// While it is open nothing is given back, since the lease is to be on as many members as there are;
// should it be lost after all, every member is told then.
Round::Rules Acquiring::rules() const {
  Round::Rules rules{.stake = Stake::grant, .ttl = wanted().ttl};
  if (enters_again()) rules.until = Round::Until::agreed;
  rules.late = [weak = std::weak_ptr(quorum_), fate = fate_, ear = std::weak_ptr(ear_),
                name = name(), owner = wanted().owner, request = wanted().request, lasts = lasts()](
                   std::size_t member, const Ballot& ballot, const Result<Reply>& reply) {
    const auto quorum = weak.lock();
    if (!quorum) return;
    const auto* outcome = reply ? std::get_if<model::LockOutcome>(&reply->outcome) : nullptr;
    const auto* queued = outcome ? std::get_if<model::Queued>(outcome) : nullptr;
    const bool is_lost = fate->load() == Fate::lost;
    if (is_lost && may_have_it(ballot, reply) && !is_held(*quorum, name, owner, request)) {
      quorum->give_back(member, name, {owner, request}, quorum->now() + lasts);
    }
    if (!queued) return;
    const auto waits = is_lost ? ear.lock() : nullptr;
    if (waits) return waits->stands_in_line(member, request, queued->place);
    constexpr bool only_unconfirmed = true;
    quorum->give_back(member, name, {owner, request, only_unconfirmed},
                      quorum->now() + model::limits::queue_ttl);
  };
  return rules;
}

Task<Answers> Acquiring::vote() {
  Round::Adapt adapt;
  is_first_question_ = wanted().place == 0;
  // A reader stands back for a writer that waits, unless it asks from its own place before it.
  const bool every_time =
      command().spec.kind == Kind::read_write && wanted().permits != all_permits;
  if (ear_ && ear_->must_register(began_, every_time)) {
    stand_in_line();
    adapt = [ear = ear_](std::size_t member, model::LockCommand& each) {
      ear->adapt(member, std::get<model::Acquire>(each.verb));
    };
  }
  Question question{.name = name(),
                    .command = for_members(),
                    .deadline = quorum_->deadline_for(wanted().ttl, request_.deadline),
                    .stop = request_.stop};
  return quorum_->ask(std::move(question), rules(), std::move(adapt));
}

void Acquiring::note_where(const Answers& answers) {
  for (std::size_t at = 0; at < quorum_->size(); ++at) {
    if (may_have_it(answers.ballots[at], answers.replies[at])) may_be_at_.set(at);
    const auto* outcome = answers.outcome(at);
    const auto* queued = outcome ? std::get_if<model::Queued>(outcome) : nullptr;
    if (queued && ear_) ear_->stands_in_line(at, wanted().request, queued->place);
  }
}

Agreement Acquiring::agreement_on(Fence fence) const {
  return {.name = name(),
          .spec = command().spec,
          .owner = wanted().owner,
          .request = wanted().request,
          .fence = fence,
          .stake = Stake::grant,
          .ttl = wanted().ttl,
          .deadline = request_.deadline};
}

Result<Reply> Acquiring::granted(Fence fence, LocalTime ends, std::optional<Micros> held) {
  const Micros lease = std::min(std::chrono::floor<Micros>(ends - began_), wanted().ttl);
  const Micros usable = quorum_->without_drift(lease);
  const LocalTime valid_until = Quorum::believed_until(began_, usable);
  const LocalTime now = quorum_->now();
  if (now >= valid_until) {
    take_back_everywhere();
    return fail(Errc::quorum_not_reached,
                fmt::format("'{}': a majority granted it, but after {} ms nothing was left of it",
                            name().str(),
                            std::chrono::ceil<std::chrono::milliseconds>(now - began_).count()));
  }
  fate_->store(Fate::won);
  if (ear_) quorum_->leave_line(*ear_, name(), wanted().owner);
  quorum_->leases().put(name(), wanted().owner,
                        {.request = wanted().request,
                         .spec = spec_for_members(),
                         .permits = wanted().permits,
                         .metadata = wanted().metadata,
                         .fence = fence,
                         .ttl = wanted().ttl,
                         .valid_until = valid_until,
                         .may_be_at = may_be_at_},
                        now);
  return Reply{.outcome = model::LockOutcome(model::Granted{fence, usable, held})};
}

void Acquiring::take_back(std::size_t member) {
  if (is_held(*quorum_, name(), wanted().owner, wanted().request)) return;
  quorum_->give_back(member, name(), {wanted().owner, wanted().request}, quorum_->now() + lasts());
}

void Acquiring::take_back(const Answers& answers) {
  fate_->store(Fate::lost);
  for (std::size_t at = 0; at < quorum_->size(); ++at) {
    if (may_have_it(answers.ballots[at], answers.replies[at])) take_back(at);
  }
}

void Acquiring::take_back_everywhere() {
  fate_->store(Fate::lost);
  for (std::size_t at = 0; at < quorum_->size(); ++at) take_back(at);
}

// What the members refuse for a reason that only their state could tell is refused by all of us.
std::optional<model::LockOutcome> Acquiring::refusal(const Answers& answers) const {
  const auto needed = majority_of(quorum_->size());
  std::size_t answered =
      count(answers.ballots, Verdict::yes) + count(answers.ballots, Verdict::held);
  const model::LockOutcome* found = nullptr;
  for (std::size_t at = 0; at < quorum_->size(); ++at) {
    const auto* outcome = answers.outcome(at);
    if (!outcome || !std::holds_alternative<model::Refused>(*outcome)) continue;
    found = outcome;
    ++answered;
  }
  if (found && answered >= needed) return *found;
  return std::nullopt;
}

model::LockOutcome Acquiring::contended(const Answers& answers) {
  if (!ear_) {
    return busy_from(*quorum_, answers);
  }
  const bool has_rivals = count(answers.ballots, Verdict::yes) > 0;
  if (!has_rivals) ear_->met_no_rival();
  const LocalTime now = quorum_->now();
  const auto& options = quorum_->options();
  // The second question follows at once, and stands in line.
  const Micros pause = is_first_question_ ? Micros::zero()
                       : has_rivals ? ear_->stand_back(now, std::chrono::ceil<Micros>(now - began_),
                                                       options.retry_delay + options.retry_jitter,
                                                       quorum_->runtime()->random())
                                    : quorum_->next_delay();
  const auto place = wanted().place != 0 ? wanted().place : quorum_->next_place();
  return model::Queued{.place = place, .ahead = 0, .retry_after = pause};
}

Result<Reply> Acquiring::lost(const Answers& answers) {
  note_where(answers);
  take_back(answers);
  if (request_.stop.stop_requested()) {
    return fail(Errc::cancelled, fmt::format("asking for '{}' was cancelled", name().str()));
  }
  if (is_contended(answers.ballots)) return Reply{.outcome = contended(answers)};
  if (auto refused = refusal(answers)) return Reply{.outcome = std::move(*refused)};
  return quorum_not_reached(*quorum_, name(), answers, "granted");
}

Result<Reply> Acquiring::not_confirmed(const Answers& confirmed) {
  take_back_everywhere();
  return quorum_not_reached(*quorum_, name(), confirmed, "confirmed");
}

}  // namespace

Task<Result<Reply>> acquire(QuorumPtr quorum, store::Request request) {
  Acquiring attempt(quorum, std::move(request));
  auto voting = attempt.vote();
  const Answers answers = co_await std::move(voting);
  if (rule(answers.ballots) != Ruling::carried) co_return attempt.lost(answers);
  attempt.note_where(answers);
  // What a majority minted alike, no other grant can have: each of them mints a number once.
  const auto agreed = quorum->options().fences ? agreed_fence(answers.ballots) : 0;
  const Fence at_least = attempt.fence_of_owner();
  if (agreed && *agreed >= at_least) {
    co_return attempt.granted(*agreed, attempt.began() + lease_of(answers.ballots),
                              held_for(answers.ballots));
  }
  const Fence proposed = std::max(largest_fence(answers.ballots), at_least);
  auto agreeing = agree_on_fence(quorum, attempt.agreement_on(proposed));
  const Agreed last = co_await std::move(agreeing);
  const auto& confirmed = last.answers;
  if (rule(confirmed.ballots) != Ruling::carried) co_return attempt.not_confirmed(confirmed);
  co_return attempt.granted(last.fence, last.began + lease_of(confirmed.ballots),
                            held_for(confirmed.ballots));
}

}  // namespace holdfast::backends::quorum
