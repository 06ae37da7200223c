// SPDX-License-Identifier: Apache-2.0
#include "backends/quorum/quorum.hpp"

#include <holdfast/options.hpp>

#include "runtime/backoff.hpp"
#include "runtime/log.hpp"

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

void Quorum::look_again() {
  for (const auto& member : *members_) member->look_again();
  if (const auto twins = find_twins(*members_, options_.allow_same_server)) {
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

Task<Answers> propose(const QuorumPtr& quorum, const Agreement& agreement, Fence fence) {
  // A renewal never shortens, so that the smallest one leaves the lease as it is.
  model::Renew verb{.owner = agreement.owner,
                    .request = agreement.request,
                    .ttl = min_ttl,
                    .fence = fence,
                    .reserve = true};
  Question question{.name = agreement.name,
                    .command = model::LockCommand{agreement.spec, std::move(verb)},
                    .deadline = quorum->deadline_for(agreement.ttl, agreement.deadline)};
  return quorum->ask(std::move(question),
                     {.ttl = agreement.ttl, .counted = agreement.counted, .fence = fence});
}

}  // namespace

Task<Agreed> agree_on_fence(QuorumPtr quorum, Agreement agreement) {
  Agreed agreed{.fence = agreement.fence};
  for (unsigned proposals = 1;; ++proposals) {
    agreed.began = quorum->now();
    auto proposing = propose(quorum, agreement, agreed.fence);
    agreed.answers = co_await std::move(proposing);
    const auto& ballots = agreed.answers.ballots;
    const bool may_go_on = proposals < max_fence_proposals && quorum->now() < agreement.deadline;
    if (rule(ballots) == Ruling::carried || !is_fence_taken(ballots) || !may_go_on) {
      co_return agreed;
    }
    // Larger than the last one: whoever refuses it says one that is.
    agreed.fence = largest_fence(ballots) + quorum->runtime()->random() % fence_spread;
  }
}

}  // namespace holdfast::backends::quorum
