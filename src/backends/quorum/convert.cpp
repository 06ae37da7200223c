// SPDX-License-Identifier: Apache-2.0
//
// Upgrades and downgrades of a lease. A member converts it only for whoever knows its fence there,
// so that late copies change nothing; and members may each have another fence, until a majority
// agrees on one. So all of them are asked for it first.
#include <holdfast/options.hpp>

#include "backends/quorum/quorum.hpp"
#include "runtime/backoff.hpp"
#include "runtime/spawn.hpp"

#include <algorithm>
#include <atomic>

namespace holdfast::backends::quorum {

namespace {

using Verdict = Ballot::Verdict;

// No lease has it: whoever asks with it is refused.
constexpr Fence nobodys_fence = 1;
constexpr runtime::Backoff between_conversions{.first = 20ms, .cap = 1s};

struct Conversion {
  QuorumPtr quorum;
  LockName name;
  model::LockSpec spec;
  model::Acquire wanted;
  std::uint64_t number = 0;  // of those of this lease
  std::shared_ptr<std::atomic<bool>> is_lost = std::make_shared<std::atomic<bool>>(false);
  // Members that did it when the vote was over.
  std::shared_ptr<std::atomic<unsigned long>> late_at =
      std::make_shared<std::atomic<unsigned long>>(0);

  bool upgrades() const { return wanted.permits == all_permits; }
  // Somebody whom a member forgot may be reading.
  Stake stake() const { return upgrades() ? Stake::grant : Stake::renewal; }
  bool is_the_latest() const {
    const auto known = quorum->leases().find(name, wanted.owner, wanted.converts);
    return known && known->conversions == number && quorum->now() < known->valid_until;
  }
  // Only asks: a renewal never shortens.
  model::LockCommand question() const {
    return {spec, model::Renew{wanted.owner, wanted.converts, min_ttl}};
  }
  model::LockCommand to(std::uint32_t permits, Fence known) const {
    model::Acquire verb = wanted;
    verb.permits = permits;
    verb.known = known;
    verb.wait = false;
    verb.process = model::ProcessId::none;
    return {spec, std::move(verb)};
  }
};

std::optional<Fence> fence_in(const Result<Reply>& reply) {
  const auto* outcome = reply ? std::get_if<model::LockOutcome>(&reply->outcome) : nullptr;
  const auto* granted = outcome ? std::get_if<model::Granted>(outcome) : nullptr;
  return granted ? std::optional(granted->fence) : std::nullopt;
}

bool may_have_happened(const Result<Reply>& reply) {
  return reply ? fence_in(reply).has_value() : reply.error().code == Errc::outcome_unknown;
}

// An upgraded lease excludes others only where it was upgraded; a lease is shared wherever it is.
MemberSet where_converted(const Conversion& conversion, const Answers& answers) {
  MemberSet where;
  for (std::size_t at = 0; at < answers.replies.size(); ++at) {
    where.set(at, !conversion.upgrades() || fence_in(answers.replies[at]));
  }
  return where | MemberSet(conversion.late_at->load());
}

// Of an upgrade that failed, on a member that may have it, or may get it later. Ends with the next
// conversion, which has a fence of its own there, and with the lease.
Task<bool> undo(Conversion conversion, std::size_t member) {
  store::Store& store = *conversion.quorum->members()[member]->store;
  runtime::Event nobody(conversion.quorum->runtime());
  for (unsigned failures = 0; conversion.is_the_latest(); ++failures) {
    const auto deadline = [&] {
      return conversion.quorum->deadline_for(max_ttl, LocalTime::max());
    };
    auto asking = store.apply({conversion.name, conversion.question(), deadline()});
    const Result<Reply> told = co_await std::move(asking);
    const auto fence = fence_in(told);
    if (told && !fence) co_return true;  // it has nothing of ours
    if (!conversion.is_the_latest()) co_return false;
    if (fence) {
      auto ending = store.apply({conversion.name, conversion.to(1, *fence), deadline()});
      const Result<Reply> ended = co_await std::move(ending);
      if (fence_in(ended)) co_return true;
    }
    const Micros delay =
        runtime::next_delay(between_conversions, failures, conversion.quorum->runtime()->random());
    co_await nobody.wait_until(conversion.quorum->now() + delay);
  }
  co_return false;
}

// Those who surely did nothing need nothing undone.
void undo_where_needed(const Conversion& conversion, const Answers& answers) {
  conversion.is_lost->store(true);
  if (!conversion.upgrades()) return;
  for (std::size_t at = 0; at < conversion.quorum->size(); ++at) {
    if (may_have_happened(answers.replies[at])) runtime::spawn(undo(conversion, at));
  }
}

const model::LockOutcome* find_refusal(const Quorum& quorum, const Answers& answers) {
  const bool is_gone =
      count(answers.ballots, Verdict::gone) > quorum.size() - majority_of(quorum.size());
  for (std::size_t at = 0; is_gone && at < quorum.size(); ++at) {
    if (answers.ballots[at].verdict == Verdict::gone) return answers.outcome(at);
  }
  return nullptr;
}

Result<Reply> lost(const Conversion& conversion, const Answers& answers) {
  undo_where_needed(conversion, answers);
  const Quorum& quorum = *conversion.quorum;
  if (const auto* refused = find_refusal(quorum, answers)) return Reply{.outcome = *refused};
  if (is_contended(answers.ballots))
    return Reply{.outcome = model::LockOutcome(busy_from(quorum, answers))};
  return quorum_not_reached(quorum, conversion.name, answers, "converted");
}

Task<Answers> ask_for_fences(Conversion conversion, LocalTime deadline) {
  const Quorum& quorum = *conversion.quorum;
  // All of them, but a silent one must leave time for the rest.
  const LocalTime half = quorum.now() + quorum.options().timeout / 2;
  Question question{.name = conversion.name,
                    .command = conversion.question(),
                    .deadline = std::min<LocalTime>(half, deadline)};
  return conversion.quorum->ask(
      std::move(question),
      {.until = Round::Until::all, .stake = conversion.stake(), .ttl = conversion.wanted.ttl});
}

Task<Answers> ask_to_convert(Conversion conversion, Answers fences, LocalTime deadline) {
  const auto& wanted = conversion.wanted;
  Question question{.name = conversion.name,
                    .command = conversion.to(wanted.permits, nobodys_fence),
                    .deadline = conversion.quorum->deadline_for(wanted.ttl, deadline)};
  Round::Rules rules{.stake = conversion.stake(), .ttl = wanted.ttl};
  rules.late = [conversion](std::size_t member, const Ballot&, const Result<Reply>& reply) {
    const bool must_go = conversion.upgrades() && conversion.is_lost->load();
    if (must_go && may_have_happened(reply)) runtime::spawn(undo(conversion, member));
    if (conversion.is_lost->load() || !fence_in(reply)) return;
    conversion.late_at->fetch_or(1UL << member);
    const auto known = conversion.quorum->leases().find(conversion.name, conversion.wanted.owner,
                                                        conversion.wanted.converts);
    const bool is_done = known && known->conversions == conversion.number + 1;
    if (!is_done) return;
    conversion.quorum->leases().counts_also_at(conversion.name, conversion.wanted.owner, *known,
                                               member);
  };
  return conversion.quorum->ask(
      std::move(question), std::move(rules),
      [fences = std::move(fences)](std::size_t member, model::LockCommand& each) {
        const auto known = fence_in(fences.replies[member]);
        if (known) std::get<model::Acquire>(each.verb).known = *known;
      });
}

Agreement agreement_of(const Conversion& conversion, const Answers& answers, LocalTime deadline) {
  const auto& wanted = conversion.wanted;
  return {.name = conversion.name,
          .spec = conversion.spec,
          .owner = wanted.owner,
          .request = wanted.converts,
          .fence = largest_fence(answers.ballots),
          .stake = conversion.stake(),
          .ttl = wanted.ttl,
          .deadline = deadline,
          .counted = where_converted(conversion, answers)};
}

Result<Reply> done(const Conversion& conversion, const Answers& answers, Fence fence,
                   LocalTime began, Micros lease) {
  Quorum& quorum = *conversion.quorum;
  const auto& wanted = conversion.wanted;
  if (!quorum.options().fences) fence = 0;
  const Micros usable = quorum.without_drift(lease);
  quorum.leases().converted(conversion.name, wanted.owner, wanted.converts,
                            {.permits = wanted.permits,
                             .fence = fence,
                             .valid_until = Quorum::believed_until(began, usable),
                             .counts_at = where_converted(conversion, answers)});
  return Reply{.outcome =
                   model::LockOutcome(model::Granted{fence, usable, held_for(answers.ballots)})};
}

Result<Reply> is_a_late_copy() {
  Error error{Errc::busy, "the lease was converted meanwhile"};
  return Reply{.outcome = model::LockOutcome(model::Refused{std::move(error)})};
}

}  // namespace

Task<Result<Reply>> convert(QuorumPtr quorum, store::Request request) {
  const auto& command = std::get<model::LockCommand>(request.command);
  Conversion conversion{quorum, request.name, command.spec, std::get<model::Acquire>(command.verb)};
  conversion.spec.order = Order::barging;
  const auto& wanted = conversion.wanted;
  const auto known = quorum->leases().find(request.name, wanted.owner, wanted.converts);
  const bool has_fences = quorum->options().fences;
  const bool is_late = known && wanted.known != 0 && wanted.known != known->fence;
  if (is_late && has_fences) co_return is_a_late_copy();
  const LocalTime began = quorum->now();
  conversion.number =
      quorum->leases().begin_conversion(request.name, wanted.owner, wanted.converts);
  auto asking = ask_for_fences(conversion, request.deadline);
  const Answers fences = co_await std::move(asking);
  if (rule(fences.ballots) != Ruling::carried) co_return lost(conversion, fences);
  auto voting = ask_to_convert(conversion, fences, request.deadline);
  const Answers answers = co_await std::move(voting);
  if (rule(answers.ballots) != Ruling::carried) co_return lost(conversion, answers);
  // A downgrade keeps the fence.
  auto kept = known ? std::optional(known->fence) : agreed_fence(fences.ballots);
  if (!has_fences) kept = 0;
  if (kept && (!conversion.upgrades() || !has_fences)) {
    co_return done(conversion, answers, *kept, began, lease_of(answers.ballots));
  }
  auto agreeing = agree_on_fence(quorum, agreement_of(conversion, answers, request.deadline));
  const Agreed agreed = co_await std::move(agreeing);
  if (rule(agreed.answers.ballots) == Ruling::carried) {
    co_return done(conversion, answers, agreed.fence, began, lease_of(agreed.answers.ballots));
  }
  undo_where_needed(conversion, answers);
  co_return quorum_not_reached(*quorum, request.name, agreed.answers, "confirmed");
}

}  // namespace holdfast::backends::quorum
