// SPDX-License-Identifier: Apache-2.0
#include "random_walk_oracle.hpp"

#include <algorithm>

namespace holdfast::test {

using model::Message;
using model::RequestId;

namespace {

bool is_handed_something(const OwnerId& owner, const Happening& at) {
  return std::ranges::any_of(
      at.messages, [&](const Message& message) { return message.grant && message.owner == owner; });
}

bool means(RequestId wanted, RequestId request) {
  return wanted == RequestId::any || wanted == request;
}

}  // namespace

bool Oracle::holds(const OwnerId& owner, RequestId request) const {
  return std::ranges::any_of(leases_, [&](const auto& lease) {
    return lease.first.first == owner.str() && means(request, lease.first.second);
  });
}

std::optional<std::string> Oracle::judge(const Happening& happening) {
  std::erase_if(leases_, [&](const auto& lease) { return lease.second.expires <= happening.now; });
  fresh_.clear();
  if (auto wrong = judge_outcome(happening)) return wrong;
  for (const Message& message : happening.messages) {
    if (auto wrong = told(message, happening)) return wrong;
  }
  for (const Fence fence : fresh_) highest_ = std::max(highest_, fence);
  if (std::holds_alternative<model::Inspect>(happening.command.verb)) return std::nullopt;
  if (auto wrong = fits()) return wrong;
  return agrees_with(happening.after);
}

Oracle::Verdict Oracle::judge_outcome(const Happening& happening) {
  return std::visit([&](const auto& verb) { return answered(verb, happening); },
                    happening.command.verb);
}

Oracle::Verdict Oracle::answered(const model::Acquire& wanted, const Happening& at) {
  const Attempt attempt{wanted.owner.str(), wanted.request};
  const bool converts = wanted.converts != RequestId::any;
  const bool is_refused = std::holds_alternative<model::Refused>(at.outcome);
  const auto base = leases_.find({wanted.owner.str(), wanted.converts});
  // Whoever converts a claim is alive and has heard of it.
  if (converts && !is_refused && base != leases_.end()) base->second.claimed = false;
  if (const auto* grant = std::get_if<model::Granted>(&at.outcome)) {
    return converts ? converted(wanted, *grant, at) : entered(wanted, *grant, at);
  }
  if (const auto* queued = std::get_if<model::Queued>(&at.outcome)) {
    if (!wanted.wait) return "a try was queued";
    if (!converts && leases_.contains(attempt)) return "a holder was queued for what it holds";
    if (converts != (queued->place == model::upgrader_place)) return "a wrong place was told";
    waits_.insert_or_assign(attempt, Wait{queued->place, wanted});
    return std::nullopt;
  }
  if (std::holds_alternative<model::Busy>(at.outcome)) {
    if (!converts && leases_.contains(attempt)) return "a holder was told that it is busy";
    if (leases_.empty() && waits_.empty()) return "busy although nobody holds or waits";
    return std::nullopt;
  }
  if (const auto* refused = std::get_if<model::Refused>(&at.outcome)) {
    const bool reused = waits_.contains(attempt) || leases_.contains(attempt);
    if (refused->error.code == Errc::bad_input && reused) return std::nullopt;
    return "refused: " + refused->error.message;
  }
  if (converts) return not_mine(at.outcome, holds(wanted.owner, wanted.converts));
  return "an acquire was answered with something else";
}

Oracle::Verdict Oracle::entered(const model::Acquire& wanted, const model::Granted& grant,
                                const Happening& at) {
  const Attempt attempt{wanted.owner.str(), wanted.request};
  const auto known = leases_.find(attempt);
  if (known == leases_.end()) {
    const bool reenters = spec_.kind == Kind::reentrant && (holds(wanted.owner, RequestId::any) ||
                                                            is_handed_something(wanted.owner, at));
    const auto waited = waits_.extract(attempt);
    // Where it stood, or where it asked to return to: no promise says which, if both are known.
    std::uint64_t place = waited ? waited.mapped().place : UINT64_MAX;
    if (wanted.place != 0) place = std::min(place, wanted.place);
    if (auto wrong = reenters ? std::nullopt : overtook(place, at)) return wrong;
    if (auto wrong = minted(wanted.owner.str(), grant.fence)) return wrong;
    if (grant.remaining != wanted.ttl) return "a fresh grant is not the whole ttl";
    leases_[attempt] = {wanted.permits, grant.fence, at.now + grant.remaining};
    return std::nullopt;
  }
  Lease& lease = known->second;
  if (grant.fence != lease.fence) return "a repeated acquire was told another fence";
  const auto left = lease.expires - at.now;
  const auto expected = lease.claimed ? std::max<Micros>(left, wanted.ttl) : Micros(left);
  if (grant.remaining != expected) return "a repeated acquire moved the lease";
  lease.expires = at.now + grant.remaining;
  lease.claimed = false;
  return std::nullopt;
}

Oracle::Verdict Oracle::converted(const model::Acquire& wanted, const model::Granted& grant,
                                  const Happening& at) {
  const auto known = leases_.find({wanted.owner.str(), wanted.converts});
  if (known == leases_.end()) return "a hold that ended was converted";
  Lease& lease = known->second;
  const bool upgrades = wanted.permits == all_permits && lease.permits != all_permits;
  if (!upgrades && grant.fence != lease.fence)
    return "a conversion that is no upgrade changed the fence";
  if (upgrades) {
    if (auto wrong = minted({}, grant.fence)) return wrong;
    waits_.erase({wanted.owner.str(), wanted.request});
  }
  if (grant.remaining < lease.expires - at.now) return "a conversion shortened the lease";
  lease = {wanted.permits, grant.fence, at.now + grant.remaining};
  return std::nullopt;
}

Oracle::Verdict Oracle::answered(const model::Renew& wanted, const Happening& at) {
  const auto* grant = std::get_if<model::Granted>(&at.outcome);
  if (!grant) return not_mine(at.outcome, holds(wanted.owner, wanted.request));
  bool fence_is_mine = false;
  for (auto& [attempt, lease] : leases_) {
    if (attempt.first != wanted.owner.str() || !means(wanted.request, attempt.second)) continue;
    lease.expires = std::max(lease.expires, at.now + wanted.ttl);
    lease.claimed = false;
    fence_is_mine |= lease.fence == grant->fence && lease.expires == at.now + grant->remaining;
  }
  if (!fence_is_mine) return "a renewal was granted to somebody who holds nothing like it";
  return std::nullopt;
}

Oracle::Verdict Oracle::answered(const model::Release& wanted, const Happening& at) {
  const bool any = wanted.request == RequestId::any;
  const auto mine = [&](const auto& entry) {
    return entry.first.first == wanted.owner.str() && means(wanted.request, entry.first.second);
  };
  const auto left = any ? 0 : std::erase_if(waits_, mine);
  const bool held = std::erase_if(leases_, [&](const auto& lease) {
                      return mine(lease) && (!any || lease.second.fence <= wanted.up_to);
                    }) > 0;
  if (!std::holds_alternative<model::Released>(at.outcome)) return not_mine(at.outcome, held);
  if (!held && left == 0) return "something was released that nobody had";
  return std::nullopt;
}

Oracle::Verdict Oracle::answered(const model::ForceRelease& wanted, const Happening& at) {
  const auto ends = std::erase_if(leases_, [&](const auto& lease) {
    return wanted.source.empty() || source_of(lease.first.first) == wanted.source;
  });
  const auto* forced = std::get_if<model::Forced>(&at.outcome);
  if (!forced) return not_mine(at.outcome, ends > 0);
  if (forced->count != ends) return "a wrong number of leases was forced";
  return minted({}, forced->fence);
}

Oracle::Verdict Oracle::answered(const model::Inspect& wanted, const Happening& at) {
  const auto* seen = std::get_if<model::Seen>(&at.outcome);
  if (!seen) return "an inspection was answered with something else";
  if (seen->lock.holders.size() != leases_.size()) return "an inspection saw other holders";
  if (seen->lock.waiters.size() > waits_.size()) return "an inspection saw too many waiters";
  const bool mine = wanted.owner && holds(*wanted.owner, RequestId::any);
  if (seen->mine.has_value() != mine) return "an inspection is wrong about what is mine";
  return std::nullopt;
}

Oracle::Verdict Oracle::told(const Message& message, const Happening& at) {
  const Attempt attempt{message.owner.str(), message.request};
  const auto waited = waits_.find(attempt);
  if (waited == waits_.end()) return "a message went to somebody who does not wait";
  if (message.process != waited->second.wanted.process) return "a message went to another process";
  if (!message.grant) return std::nullopt;
  const Wait wait = waited->second;
  waits_.erase(waited);
  if (spec_.order == Order::barging) return "a barging lock was handed over";
  if (message.grant->at != at.now) return "a grant message bears another time";
  if (wait.wanted.converts != RequestId::any) return told_of_upgrade(wait, message, at);
  if (leases_.contains(attempt)) return "one request was granted twice";
  if (message.grant->lease != std::min(wait.wanted.ttl, wait.wanted.claim)) {
    return "a claim is not the shorter of the ttl and the claim";
  }
  if (auto wrong = overtook(wait.place, at)) return wrong;
  if (auto wrong = minted(attempt.first, message.grant->fence)) return wrong;
  leases_[attempt] = {wait.wanted.permits, message.grant->fence, at.now + message.grant->lease,
                      true};
  return std::nullopt;
}

Oracle::Verdict Oracle::told_of_upgrade(const Wait& wait, const Message& message,
                                        const Happening& at) {
  const auto base = leases_.find({message.owner.str(), wait.wanted.converts});
  if (base == leases_.end()) return "an upgrade was granted after its shared lease ended";
  const auto expires = at.now + message.grant->lease;
  if (expires < base->second.expires) return "an upgrade shortened the lease";
  base->second = {wait.wanted.permits, message.grant->fence, expires};
  return minted({}, message.grant->fence);
}

// In a fifo lock nobody is served while somebody with an earlier place goes on waiting. Those who
// could not be reached are no longer in the queue.
Oracle::Verdict Oracle::overtook(std::uint64_t place, const Happening& at) const {
  if (spec_.order == Order::barging || at.after.queue.empty()) return std::nullopt;
  if (at.after.queue.begin()->first < place) return "somebody was served before its turn";
  return std::nullopt;
}

Oracle::Verdict Oracle::minted(const std::string& owner, Fence fence) {
  if (spec_.kind == Kind::reentrant && !owner.empty()) {
    for (const auto& [attempt, lease] : leases_) {
      if (attempt.first != owner) continue;
      if (lease.fence != fence) return "re-entry changed the fence";
      return std::nullopt;
    }
  }
  if (fence <= highest_) return "a fence did not grow";
  if (std::ranges::find(fresh_, fence) != fresh_.end()) return "a fence was given out twice";
  fresh_.push_back(fence);
  return std::nullopt;
}

Oracle::Verdict Oracle::not_mine(const model::LockOutcome& outcome, bool is_mine) const {
  if (is_mine) return "a holder was told that it holds nothing";
  const bool nobody = std::holds_alternative<model::NotHeld>(outcome);
  if (!nobody && !std::holds_alternative<model::NotOwner>(outcome)) return "a wrong answer";
  return std::nullopt;
}

Oracle::Verdict Oracle::fits() const {
  std::uint64_t sum = 0;
  for (const auto& [attempt, lease] : leases_) {
    sum += lease.permits;
    const bool alone = spec_.kind == Kind::reentrant ? attempt.first == leases_.begin()->first.first
                                                     : lease.permits != all_permits;
    if (!alone && leases_.size() > 1) return "two hold what only one may hold";
  }
  if (spec_.kind == Kind::reentrant || sum <= spec_.capacity) return std::nullopt;
  return "more permits are out than there are";
}

Oracle::Verdict Oracle::agrees_with(const model::LockState& state) const {
  if (state.holds.size() != leases_.size()) return "the state has other holders than were told";
  for (const auto& hold : state.holds) {
    const auto known = leases_.find({hold.owner.str(), hold.request});
    if (known == leases_.end()) return "the state has a holder that was never told";
    const Lease& lease = known->second;
    if (lease.fence != hold.fence || lease.permits != hold.permits ||
        lease.expires != hold.expires || lease.claimed != hold.claimed) {
      return "a holder was told something else than the state says";
    }
  }
  for (const auto& [place, waiter] : state.queue) {
    const auto known = waits_.find({waiter.owner.str(), waiter.request});
    if (known == waits_.end()) return "somebody waits who never asked";
    if (known->second.place != place) return "somebody waits at a place it was not told";
  }
  return std::nullopt;
}

}  // namespace holdfast::test
