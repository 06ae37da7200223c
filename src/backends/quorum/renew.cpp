// SPDX-License-Identifier: Apache-2.0
//
// A renewal needs a majority that has the lease. Members that lost it, or never had it, get it
// again once that majority is shown; they count from the next time on.
#include <holdfast/options.hpp>

#include "backends/quorum/quorum.hpp"
#include "runtime/spawn.hpp"

#include <algorithm>
#include <atomic>

namespace holdfast::backends::quorum {

namespace {

using Verdict = Ballot::Verdict;

struct Repair {
  QuorumPtr quorum;
  std::size_t member = 0;
  LockName name;
  OwnerId owner;
  model::RequestId request{};
  KnownLease lease;
};

store::Request question(const Repair& repair, model::LockCommand command) {
  return {.name = repair.name,
          .command = std::move(command),
          .deadline = repair.quorum->deadline_for(max_ttl, repair.lease.valid_until)};
}

// Only for as long as the majority has it, and only while we may believe in it.
Task<bool> give_again(Repair repair) {
  const KnownLease& lease = repair.lease;
  store::Store& store = *repair.quorum->members()[repair.member]->store;
  const Micros ttl = std::chrono::floor<Micros>(lease.valid_until - repair.quorum->now());
  if (ttl < min_ttl) co_return false;
  model::Acquire wanted{.owner = repair.owner,
                        .request = repair.request,
                        .permits = lease.permits,
                        .ttl = ttl,
                        .metadata = lease.metadata};
  auto asking = store.apply(question(repair, {lease.spec, std::move(wanted)}));
  const Result<Reply> reply = co_await std::move(asking);
  const auto* outcome = reply ? std::get_if<model::LockOutcome>(&reply->outcome) : nullptr;
  const bool may_be_there = outcome ? std::holds_alternative<model::Granted>(*outcome)
                                    : reply.error().code == Errc::outcome_unknown;
  if (!may_be_there) co_return false;
  repair.quorum->leases().is_also_at(repair.name, repair.owner, repair.request, repair.member);
  if (outcome) {
    repair.quorum->leases().counts_also_at(repair.name, repair.owner, lease, repair.member);
  }
  if (!repair.quorum->leases().find(repair.name, repair.owner, repair.request)) {
    // It was released meanwhile, and that may have been heard before this.
    repair.quorum->give_back(repair.member, repair.name, {repair.owner, repair.request},
                             lease.valid_until);
    co_return false;
  }
  if (lease.fence == 0) co_return true;
  model::Renew agreed{repair.owner, repair.request, min_ttl, lease.fence};
  auto telling = store.apply(question(repair, {lease.spec, std::move(agreed)}));
  const Result<Reply> told = co_await std::move(telling);
  co_return told.has_value();
}

// On a member that has a shared lease where the others have an exclusive one, since somebody else
// was reading there.
Task<bool> upgrade(Repair repair, Fence known) {
  const KnownLease& lease = repair.lease;
  store::Store& store = *repair.quorum->members()[repair.member]->store;
  model::Acquire wanted{.owner = repair.owner,
                        .request = repair.request,
                        .permits = lease.permits,
                        .ttl = min_ttl,
                        .converts = repair.request,
                        .known = known,
                        .metadata = lease.metadata};
  auto asking = store.apply(question(repair, {lease.spec, std::move(wanted)}));
  const Result<Reply> reply = co_await std::move(asking);
  const auto* outcome = reply ? std::get_if<model::LockOutcome>(&reply->outcome) : nullptr;
  if (!outcome || !std::holds_alternative<model::Granted>(*outcome)) co_return false;
  repair.quorum->leases().counts_also_at(repair.name, repair.owner, lease, repair.member);
  co_return true;
}

// Of a member that says it has nothing, or less than the others.
void repair(const QuorumPtr& quorum, std::size_t member, const LockName& name,
            const model::Renew& wanted, const Result<Reply>& reply) {
  const auto* outcome = reply ? std::get_if<model::LockOutcome>(&reply->outcome) : nullptr;
  const auto* granted = outcome ? std::get_if<model::Granted>(outcome) : nullptr;
  if (!granted && (!outcome || !std::holds_alternative<model::NotHeld>(*outcome))) return;
  auto lease = quorum->leases().find(name, wanted.owner, wanted.request);
  if (!lease || quorum->now() >= lease->valid_until) return;
  if (granted && lease->counts_at.test(member)) return;
  const auto request = lease->request;
  Repair repair{quorum, member, name, wanted.owner, request, std::move(*lease)};
  runtime::spawn(granted ? upgrade(std::move(repair), granted->fence)
                         : give_again(std::move(repair)));
}

const model::LockOutcome* who_says_no(const Quorum& quorum, const Answers& answers) {
  const auto needed = majority_of(quorum.size());
  if (count(answers.ballots, Verdict::gone) <= quorum.size() - needed) return nullptr;
  const model::LockOutcome* found = nullptr;
  for (std::size_t at = 0; at < quorum.size(); ++at) {
    if (answers.ballots[at].verdict != Verdict::gone) continue;
    found = answers.outcome(at);
    if (std::holds_alternative<model::NotOwner>(*found)) break;
  }
  return found;
}

class Renewing {
 public:
  Renewing(QuorumPtr quorum, store::Request request)
      : quorum_(std::move(quorum)),
        request_(std::move(request)),
        began_(quorum_->now()),
        known_(quorum_->leases().find(name(), wanted().owner, wanted().request)) {}

  Task<Answers> vote() const;
  // The fence to tell the caller; nothing if it takes another round to know.
  std::optional<Fence> fence(const Answers& answers) const;
  Agreement agreement_on(Fence fence) const;
  Result<Reply> granted(Fence fence, const Answers& answers);

  // A lease that is lost: what is left of it somewhere would only stand in the way of others.
  void forget(const Answers& answers);
  const LockName& name() const { return request_.name; }

 private:
  const model::LockCommand& command() const {
    return std::get<model::LockCommand>(request_.command);
  }
  const model::Renew& wanted() const { return std::get<model::Renew>(command().verb); }
  bool is_of_one_lease() const { return wanted().request != model::RequestId::any; }
  // What an owner has somewhere need not have been granted: it may be what a lost vote left there.
  Stake stake() const { return known_ || is_of_one_lease() ? Stake::renewal : Stake::grant; }

  const QuorumPtr quorum_;
  const store::Request request_;
  const LocalTime began_;
  const std::optional<KnownLease> known_;
  // For answers that come later.
  const std::shared_ptr<std::atomic<bool>> is_shown_ = std::make_shared<std::atomic<bool>>(false);
};

Task<Answers> Renewing::vote() const {
  model::LockCommand carries = command();
  // Told again, for members that missed it. Not where an upgrade may be on its way: this would give
  // the lease its old fence back, and the downgrade would be taken for a late copy.
  const bool keeps_its_fence = known_ && known_->spec.kind != Kind::read_write;
  if (keeps_its_fence && is_of_one_lease()) {
    std::get<model::Renew>(carries.verb).fence = known_->fence;
  }
  Question question{.name = name(),
                    .command = std::move(carries),
                    .deadline = quorum_->deadline_for(
                        std::max(wanted().ttl, 5 * quorum_->options().timeout), request_.deadline),
                    .stop = request_.stop};
  Round::Rules rules{.stake = stake(),
                     .ttl = std::max(wanted().ttl, known_ ? known_->ttl : Micros::zero())};
  if (known_) rules.counted = known_->counts_at;
  // Those that were late when the lock was granted may have another fence: whoever does not know it
  // hears all of them before it believes one.
  if (!known_ && quorum_->options().fences) rules.until = Round::Until::all;
  if (known_) {
    rules.late = [weak = std::weak_ptr(quorum_), shown = is_shown_, name = name(), verb = wanted()](
                     std::size_t member, const Ballot&, const Result<Reply>& reply) {
      const auto quorum = weak.lock();
      if (quorum && shown->load()) repair(quorum, member, name, verb, reply);
    };
  }
  return quorum_->ask(std::move(question), std::move(rules));
}

std::optional<Fence> Renewing::fence(const Answers& answers) const {
  if (!quorum_->options().fences) return 0;
  if (known_) return known_->fence;
  if (const auto agreed = agreed_fence(answers.ballots)) return agreed;
  if (!is_of_one_lease()) return fence_below_later_leases(answers.ballots);
  return std::nullopt;
}

Agreement Renewing::agreement_on(Fence fence) const {
  return {.name = name(),
          .spec = command().spec,
          .owner = wanted().owner,
          .request = wanted().request,
          .fence = fence,
          .stake = stake(),
          .ttl = wanted().ttl,
          .deadline = request_.deadline};
}

void Renewing::forget(const Answers& answers) {
  quorum_->leases().erase(name(), wanted().owner, wanted().request);
  for (std::size_t at = 0; is_of_one_lease() && at < quorum_->size(); ++at) {
    if (answers.ballots[at].verdict == Verdict::gone) continue;
    quorum_->give_back(at, name(), {wanted().owner, wanted().request},
                       quorum_->now() + wanted().ttl);
  }
}

Result<Reply> Renewing::granted(Fence fence, const Answers& answers) {
  Micros usable = quorum_->without_drift(lease_of(answers.ballots));
  // Another majority may have it for longer than the one that was heard first: a member that comes
  // back has what was left when it went away.
  if (known_) usable = std::max(usable, Quorum::usable_until(known_->valid_until, began_));
  const LocalTime valid_until = Quorum::believed_until(began_, usable);
  quorum_->leases().extend(name(), wanted().owner, wanted().request, valid_until);
  is_shown_->store(true);
  for (std::size_t at = 0; at < quorum_->size(); ++at) {
    repair(quorum_, at, name(), wanted(), answers.replies[at]);
  }
  return Reply{.outcome =
                   model::LockOutcome(model::Granted{fence, usable, held_for(answers.ballots)})};
}

}  // namespace

Task<Result<Reply>> renew(QuorumPtr quorum, store::Request request) {
  Renewing renewal(quorum, std::move(request));
  auto voting = renewal.vote();
  const Answers answers = co_await std::move(voting);
  if (rule(answers.ballots) != Ruling::carried) {
    if (const auto* no = who_says_no(*quorum, answers)) {
      renewal.forget(answers);
      co_return Reply{.outcome = *no};
    }
    co_return quorum_not_reached(*quorum, renewal.name(), answers, "renewed");
  }
  auto fence = renewal.fence(answers);
  if (!fence) {
    auto agreeing = agree_on_fence(quorum, renewal.agreement_on(largest_fence(answers.ballots)));
    const Agreed agreed = co_await std::move(agreeing);
    if (rule(agreed.answers.ballots) != Ruling::carried) {
      co_return quorum_not_reached(*quorum, renewal.name(), agreed.answers, "confirmed");
    }
    fence = agreed.fence;
  }
  co_return renewal.granted(*fence, answers);
}

}  // namespace holdfast::backends::quorum
