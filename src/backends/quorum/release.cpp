// SPDX-License-Identifier: Apache-2.0
//
// Ending a lease, by its holder or by an operator. Every member is told, and those that do not hear
// it are told again in the background.
#include <holdfast/options.hpp>

#include "backends/quorum/quorum.hpp"

#include <algorithm>

namespace holdfast::backends::quorum {

namespace {

using Verdict = Ballot::Verdict;

// For how long a member that does not answer is told, where nobody knows when the lease ends.
constexpr Micros default_patience = 30s;

bool may_have_happened(const Answers& answers) {
  return std::ranges::any_of(answers.replies, [](const Result<Reply>& reply) {
    return reply || reply.error().code == Errc::outcome_unknown;
  });
}

std::size_t answered(const Answers& answers) {
  return static_cast<std::size_t>(std::ranges::count_if(
      answers.replies, [](const Result<Reply>& reply) { return reply.has_value(); }));
}

// What those say who know nothing of the lease.
model::LockOutcome not_ours(const Answers& answers) {
  for (std::size_t at = 0; at < answers.replies.size(); ++at) {
    const auto* outcome = answers.outcome(at);
    if (outcome && std::holds_alternative<model::NotOwner>(*outcome)) return *outcome;
  }
  return model::NotHeld{};
}

// What was to end may still be there: so many have something newer that no majority is free of it.
bool may_go_on(const Quorum& quorum, const Answers& answers) {
  std::size_t newer = 0;
  for (std::size_t at = 0; at < answers.replies.size(); ++at) {
    const auto* outcome = answers.outcome(at);
    if (outcome && std::holds_alternative<model::NotOwner>(*outcome)) ++newer;
  }
  return newer > answered(answers) - majority_of(quorum.size());
}

Task<Answers> tell_all(QuorumPtr quorum, store::Request request) {
  const LocalTime half = quorum->share_of(request.deadline, 2);
  Question question{.name = std::move(request.name),
                    .command = std::move(request.command),
                    .deadline = quorum->deadline_for(max_ttl, half)};
  return quorum->ask(std::move(question), {.until = Round::Until::all});
}

void add(model::Forced& forced, const Answers& answers) {
  for (std::size_t at = 0; at < answers.replies.size(); ++at) {
    const auto* outcome = answers.outcome(at);
    const auto* one = outcome ? std::get_if<model::Forced>(outcome) : nullptr;
    if (!one) continue;
    forced.fence = std::max(forced.fence, one->fence);
    forced.count = std::max(forced.count, one->count);
  }
}

// The members of a majority have the fence on which they agreed, and the next lease of the owner
// gets a larger one there before it is told: so `up_to` means the same to them. Where members do
// not agree on fences, nobody can tell one lease of an owner from the next.
Result<void> mean_members_fences(const Quorum& quorum, model::Release& what) {
  if (what.request != model::RequestId::any || quorum.options().fences) return {};
  if (what.up_to != 0 && what.up_to != UINT64_MAX) {
    return fail(Errc::unsupported, "fence: this store gives out no fences (fence=off)");
  }
  what.up_to = UINT64_MAX;
  return {};
}

bool names_a_fence(const model::Release& what) {
  return what.request == model::RequestId::any && what.up_to != UINT64_MAX;
}

Fence newest_of_owner(const Answers& seen, std::size_t member) {
  const auto* outcome = seen.outcome(member);
  const auto* one = outcome ? std::get_if<model::Seen>(outcome) : nullptr;
  return one && one->mine ? one->mine->fence : 0;
}

// A member that missed the agreement may have a larger fence for the same lease. While a majority
// has none of the owner's that is newer than the one that is meant, what such a member has is of
// that lease, or of a vote that cannot be won. Should the next lease be granted meanwhile, the
// majority keeps it.
Task<Round::Adapt> up_to_at_members(QuorumPtr quorum, LockName name, model::Release what,
                                    LocalTime deadline) {
  Question question{.name = std::move(name),
                    .command = model::LockCommand{{}, model::Inspect{what.owner}},
                    .deadline = quorum->deadline_for(max_ttl, quorum->share_of(deadline, 2))};
  auto asking = quorum->ask(std::move(question), {.until = Round::Until::all});
  const Answers seen = co_await std::move(asking);
  std::vector<Fence> newest;
  for (std::size_t at = 0; at < quorum->size(); ++at) newest.push_back(newest_of_owner(seen, at));
  const auto have_it = static_cast<std::size_t>(std::ranges::count(newest, what.up_to));
  if (have_it < majority_of(quorum->size())) co_return Round::Adapt{};
  co_return [newest = std::move(newest)](std::size_t member, model::LockCommand& each) {
    auto& verb = std::get<model::Release>(each.verb);
    verb.up_to = std::max(verb.up_to, newest[member]);
  };
}

Result<Reply> released_as(const Quorum& quorum, const LockName& name, const Answers& answers) {
  if (rule(answers.ballots) == Ruling::carried) {
    const bool lease = std::ranges::any_of(answers.replies, [](const Result<Reply>& reply) {
      const auto* outcome = reply ? std::get_if<model::LockOutcome>(&reply->outcome) : nullptr;
      const auto* released = outcome ? std::get_if<model::Released>(outcome) : nullptr;
      return released && released->lease;
    });
    return Reply{.outcome = model::LockOutcome(model::Released{lease})};
  }
  const auto needed = majority_of(quorum.size());
  if (count(answers.ballots, Verdict::gone) > quorum.size() - needed) {
    return Reply{.outcome = not_ours(answers)};
  }
  auto error = quorum_not_reached(quorum, name, answers, "released");
  Error failed = std::move(error.error());
  if (may_have_happened(answers)) failed.code = Errc::outcome_unknown;
  return std::unexpected(std::move(failed));
}

}  // namespace

Task<Result<Reply>> release(QuorumPtr quorum, store::Request request) {
  const LockName name = request.name;
  auto command = std::get<model::LockCommand>(request.command);
  auto& what = std::get<model::Release>(command.verb);
  if (auto good = mean_members_fences(*quorum, what); !good) {
    co_return std::unexpected(std::move(good.error()));
  }
  // From now on nobody repairs it.
  const auto known = quorum->leases().erase(name, what.owner, what.request, what.up_to);
  const LocalTime until =
      known ? known->valid_until + known->ttl / 50 + 10ms : quorum->now() + default_patience;
  const MemberSet may_be_at = known ? known->may_be_at : MemberSet().set();
  // Later than now it must not mean a lease that its owner has got meanwhile. Where nobody knows
  // which one was meant, it ends with its ttl on the members that did not hear this.
  model::Release again = what;
  if (known) again.request = known->request;
  // Where it had a larger fence, only its request tells it.
  const bool may_be_spared = known && names_a_fence(what);
  const auto tell_again = [weak = std::weak_ptr(quorum), name, again, until, may_be_at,
                           may_be_spared](std::size_t member, const Ballot& ballot,
                                          const Result<Reply>& reply) {
    const auto still_there = weak.lock();
    const bool has_ended = reply && !(may_be_spared && ballot.verdict == Verdict::gone);
    if (has_ended || !still_there || !may_be_at.test(member)) return;
    if (again.request == model::RequestId::any) return;
    still_there->give_back(member, name, again, until);
  };
  Round::Adapt adapt;
  if (!known && names_a_fence(what)) {
    auto looking = up_to_at_members(quorum, name, what, request.deadline);
    adapt = co_await std::move(looking);
  }
  Question question{.name = name,
                    .command = command,
                    .deadline = quorum->deadline_for(max_ttl, request.deadline)};
  Round::Rules rules;
  rules.late = tell_again;
  auto asking = quorum->ask(std::move(question), std::move(rules), std::move(adapt));
  const Answers answers = co_await std::move(asking);
  for (std::size_t at = 0; at < quorum->size(); ++at) {
    const bool is_pending = answers.ballots[at].verdict == Verdict::pending;
    if (!is_pending) tell_again(at, answers.ballots[at], answers.replies[at]);
  }
  co_return released_as(*quorum, name, answers);
}

// Every later grant must have a larger fence than what is answered here, so that this one is told
// to all members as well.
Task<Result<Reply>> force_release(QuorumPtr quorum, store::Request request) {
  // Where leases have no fence, none can be told from another.
  auto& command = std::get<model::LockCommand>(request.command);
  auto& force = std::get<model::ForceRelease>(command.verb);
  if (!quorum->options().fences && force.up_to == 0) force.up_to = UINT64_MAX;
  auto asking = tell_all(quorum, request);
  const Answers answers = co_await std::move(asking);
  if (answered(answers) < majority_of(quorum->size())) {
    co_return quorum_not_reached(*quorum, request.name, answers, "ended");
  }
  model::Forced forced;
  add(forced, answers);
  if (forced.count == 0 || may_go_on(*quorum, answers)) {
    co_return Reply{.outcome = not_ours(answers)};
  }
  // A renewal on its way may have been shown its majority before, and have given the lease again to
  // those who had ended it. With those who did not hear this it would be a majority.
  if (answered(answers) < quorum->size()) {
    auto asking_again = tell_all(quorum, request);
    const Answers again = co_await std::move(asking_again);
    if (answered(again) < majority_of(quorum->size())) {
      co_return quorum_not_reached(*quorum, request.name, again, "ended");
    }
    add(forced, again);
  }
  if (!quorum->options().fences) {
    forced.fence = 0;
    co_return Reply{.outcome = model::LockOutcome(forced)};
  }
  // Of nobody's lease: it only raises the counters.
  model::Renew raise{OwnerId::from_random(quorum->runtime()->random(), 0),
                     model::RequestId{quorum->runtime()->random() | 1U}, min_ttl, forced.fence};
  Question telling{.name = request.name,
                   .command = model::LockCommand{command.spec, std::move(raise)},
                   .deadline = quorum->deadline_for(max_ttl, request.deadline)};
  auto raising = quorum->ask(std::move(telling), {.until = Round::Until::all});
  const Answers raised = co_await std::move(raising);
  if (answered(raised) < majority_of(quorum->size())) {
    co_return quorum_not_reached(*quorum, request.name, raised, "confirmed");
  }
  co_return Reply{.outcome = model::LockOutcome(forced)};
}

// A fence is accepted if a majority accepts it and nobody of those who answered has seen a newer
// one: what was accepted once is known to a member of every majority. A member that may have
// forgotten what it accepted does not count, as for a grant.
Task<Result<Reply>> check_fence(QuorumPtr quorum, store::Request request) {
  Question question{.name = request.name,
                    .command = request.command,
                    .deadline = quorum->deadline_for(max_ttl, request.deadline),
                    .stop = request.stop};
  auto asking = quorum->ask(std::move(question), {.stake = Stake::grant});
  const Answers answers = co_await std::move(asking);
  if (rule(answers.ballots) != Ruling::carried) {
    co_return quorum_not_reached(*quorum, request.name, answers, "answered");
  }
  model::GuardOutcome all{.accepted = true};
  for (const auto& reply : answers.replies) {
    const auto* one = reply ? std::get_if<model::GuardOutcome>(&reply->outcome) : nullptr;
    if (!one) continue;
    all.accepted = all.accepted && one->accepted;
    all.newest = std::max(all.newest, one->newest);
  }
  co_return Reply{.outcome = all};
}

}  // namespace holdfast::backends::quorum
