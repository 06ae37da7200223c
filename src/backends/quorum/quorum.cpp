// SPDX-License-Identifier: Apache-2.0
#include "backends/quorum/quorum.hpp"

#include <holdfast/options.hpp>

#include "runtime/backoff.hpp"
#include "runtime/log.hpp"
#include "runtime/spawn.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::backends::quorum {

Quorum::Quorum(Members members, const Options& options, std::shared_ptr<runtime::Runtime> runtime)
    : members_(std::make_shared<const Members>(std::move(members))),
      options_(options),
      runtime_(std::move(runtime)) {
  for (const auto& member : *members_) {
    give_backs_.push_back(std::make_shared<GiveBacks>(member->store, runtime_, options_.timeout));
  }
}

LocalTime Quorum::deadline_for(Micros ttl, LocalTime at_most) const {
  const Micros patience = std::clamp<Micros>(ttl / 5, min_member_timeout, options_.timeout);
  return std::min<LocalTime>(now() + patience, at_most);
}

LocalTime Quorum::share_of(LocalTime deadline, std::size_t parts) const {
  return now() + (deadline - now()) / static_cast<std::int64_t>(parts);
}

Micros Quorum::without_drift(Micros lease) const {
  const double more = options_.drift - min_drift;
  return lease - Micros(static_cast<std::int64_t>(static_cast<double>(lease.count()) * more));
}

Micros Quorum::next_delay() const {
  return runtime::jittered(options_.retry_delay, options_.retry_jitter, runtime_->random());
}

Task<Answers> Quorum::ask(Question question, Round::Rules rules, Round::Adapt adapt) {
  rules.grace = options_.grace;
  rules.learned = [weak = weak_from_this()] {
    if (const auto quorum = weak.lock()) quorum->look_again();
  };
  auto round = std::make_shared<Round>(members_, runtime_, std::move(rules));
  return Round::run(std::move(round), std::move(question), std::move(adapt));
}

Result<void> Quorum::can_keep(Micros ttl) const {
  const Micros grace = options_.grace;
  if (grace == Micros::zero() || ttl <= grace) return {};
  const auto forgetful = static_cast<std::size_t>(
      std::ranges::count_if(*members_, [](const auto& member) { return member->is_forgetful(); }));
  if (size() - forgetful >= majority_of(size())) return {};
  return fail(Errc::bad_input,
              fmt::format("ttl: {} is longer than grace, {}, and {} of {} members forget their "
                          "locks when they are restarted (appendonly is off): such a lease could "
                          "be granted twice; set grace to the longest ttl, or turn appendonly on",
                          in_words(ttl), in_words(grace), forgetful, size()));
}

void Quorum::look_again() {
  for (const auto& member : *members_) member->look_again(now());
  find_twins();
}

void Quorum::may_have_changed(std::size_t member) {
  (*members_)[member]->may_have_changed(now());
  find_twins();
}

void Quorum::find_twins() const {
  if (const auto twins = quorum::find_twins(*members_, options_.allow_same_server)) {
    runtime::log_warning(fmt::format("redlock: {}: it is counted once", *twins));
  }
}

void Quorum::give_back(std::size_t member, const LockName& name, const model::Release& what,
                       LocalTime until) {
  give_backs_[member]->add({name, what, until});
}

void Quorum::leave_line(Ear& ear, const LockName& name, const OwnerId& owner) {
  const auto [request, members] = ear.unregister();
  constexpr bool only_unconfirmed = true;
  for (const auto member : members) {
    give_back(member, name, {owner, request, only_unconfirmed}, now() + model::limits::queue_ttl);
  }
}

std::shared_ptr<Ear> Quorum::add_ear() {
  auto ear = std::make_shared<Ear>(runtime_, model::ProcessId{runtime_->random() | 1U});
  const std::lock_guard lock(mutex_);
  ears_[ear->process()] = ear;
  return ear;
}

std::shared_ptr<Ear> Quorum::find_ear(model::ProcessId process) const {
  const std::lock_guard lock(mutex_);
  const auto found = ears_.find(process);
  return found == ears_.end() ? nullptr : found->second.lock();
}

void Quorum::remove_ear(model::ProcessId process) {
  const std::lock_guard lock(mutex_);
  ears_.erase(process);
}

std::unexpected<Error> quorum_not_reached(const Quorum& quorum, const LockName& name,
                                          const Answers& answers, std::string_view done) {
  return fail(
      Errc::quorum_not_reached,
      fmt::format("'{}': {}", name.str(), explain(quorum.members(), answers.ballots, done)));
}

model::Busy busy_from(const Quorum& quorum, const Answers& answers) {
  const auto held = count(answers.ballots, Ballot::Verdict::held);
  model::Busy busy{.retry_after = until_contenders_end(answers.ballots),
                   .held_by_members = static_cast<std::uint32_t>(held),
                   .members = static_cast<std::uint32_t>(quorum.size())};
  for (std::size_t at = 0; at < quorum.size(); ++at) {
    const auto* outcome = answers.outcome(at);
    const auto* said = outcome ? std::get_if<model::Busy>(outcome) : nullptr;
    if (!said) continue;
    busy.holder_count = said->holder_count;
    busy.holders = said->holders;
    break;
  }
  return busy;
}

namespace {

constexpr unsigned max_fence_proposals = 16;
// Rivals that have met once propose different fences the next time.
constexpr std::uint64_t fence_spread = 16;

// Members that have the lease with another fence are told the one that was agreed on. Not of a
// read-write lock: an upgrade that came before this would get its old fence back.
class Telling {
 public:
  Telling(QuorumPtr quorum, const Agreement& agreement)
      : quorum_(std::move(quorum)), agreement_(agreement) {}

  void agreed_on(Fence fence) { fence_ = fence; }
  void heard(std::size_t member, const Ballot& ballot) const {
    const Fence fence = fence_.load();
    const bool is_told = fence != 0 && ballot.verdict == Ballot::Verdict::other_fence;
    if (!is_told || agreement_.spec.kind == Kind::read_write) return;
    model::Renew verb{agreement_.owner, agreement_.request, min_ttl, fence};
    runtime::spawn(quorum_->members()[member]->store->apply(
        {.name = agreement_.name,
         .command = model::LockCommand{agreement_.spec, std::move(verb)},
         .deadline = quorum_->deadline_for(agreement_.ttl, LocalTime::max())}));
  }

 private:
  const QuorumPtr quorum_;
  const Agreement agreement_;
  std::atomic<Fence> fence_ = 0;
};

Task<Answers> propose(const QuorumPtr& quorum, const Agreement& agreement, Fence fence,
                      std::shared_ptr<Telling> telling) {
  // A renewal never shortens, so that the smallest one leaves the lease as it is.
  model::Renew verb{.owner = agreement.owner,
                    .request = agreement.request,
                    .ttl = min_ttl,
                    .fence = fence,
                    .reserve = true};
  Question question{.name = agreement.name,
                    .command = model::LockCommand{agreement.spec, std::move(verb)},
                    .deadline = quorum->deadline_for(agreement.ttl, agreement.deadline)};
  Round::Rules rules{
      .stake = agreement.stake, .ttl = agreement.ttl, .counted = agreement.counted, .fence = fence};
  rules.late = [telling = std::move(telling)](std::size_t member, const Ballot& ballot,
                                              const Result<Reply>&) {
    telling->heard(member, ballot);
  };
  return quorum->ask(std::move(question), std::move(rules));
}

}  // namespace

Task<Agreed> agree_on_fence(QuorumPtr quorum, Agreement agreement) {
  Agreed agreed{.fence = agreement.fence};
  const auto telling = std::make_shared<Telling>(quorum, agreement);
  for (unsigned proposals = 1;; ++proposals) {
    agreed.began = quorum->now();
    auto proposing = propose(quorum, agreement, agreed.fence, telling);
    agreed.answers = co_await std::move(proposing);
    const auto& ballots = agreed.answers.ballots;
    const bool may_go_on = proposals < max_fence_proposals && quorum->now() < agreement.deadline;
    if (rule(ballots) == Ruling::carried) {
      telling->agreed_on(agreed.fence);
      for (std::size_t at = 0; at < ballots.size(); ++at) telling->heard(at, ballots[at]);
      co_return agreed;
    }
    if (!is_fence_taken(ballots) || !may_go_on) co_return agreed;
    // Larger than the last one: whoever refuses it says one that is.
    agreed.fence = largest_fence(ballots) + quorum->runtime()->random() % fence_spread;
  }
}

}  // namespace holdfast::backends::quorum
