// SPDX-License-Identifier: Apache-2.0
//
// What an operator sees: the lock as a majority has it, and a row for each member.
#include <holdfast/options.hpp>

#include "backends/quorum/quorum.hpp"
#include "runtime/spawn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <set>

namespace holdfast::backends::quorum {

namespace {

using Verdict = Ballot::Verdict;
using State = MemberView::State;

const model::Seen* seen_by(const Answers& answers, std::size_t member) {
  const auto* outcome = answers.outcome(member);
  return outcome ? std::get_if<model::Seen>(outcome) : nullptr;
}

State state_of(Verdict verdict) {
  if (verdict == Verdict::unreachable) return State::unreachable;
  return verdict == Verdict::refused ? State::refused : State::too_slow;
}

MemberView row(const Member& member, const Ballot& ballot, const model::Seen* seen) {
  MemberView view{.address = member.address, .state = State::free, .reason = ballot.reason};
  if (!seen) {
    view.state = state_of(ballot.verdict);
    view.counts = false;
    return view;
  }
  for (const HolderView& holder : seen->lock.holders) {
    view.state = State::held;
    ++view.holders;
    view.remaining = std::max(view.remaining, holder.remaining);
    if (holder.fence < view.fence) continue;
    view.fence = holder.fence;
    view.party = holder.party;
  }
  return view;
}

// Entries of the same party on several members are one. A party may have several: the first of each
// member are the same one, and so on.
template <typename View>
using Sightings = std::map<std::pair<std::uint64_t, std::size_t>, std::vector<View>>;

template <typename View>
void collect(Sightings<View>& out, const std::vector<View>& views) {
  std::map<std::uint64_t, std::size_t> seen_so_far;
  for (const View& view : views) out[{view.party, seen_so_far[view.party]++}].push_back(view);
}

// As long as a majority has it.
HolderView merge(const Quorum& quorum, std::span<const HolderView> sightings) {
  std::vector<Ballot> ballots(quorum.size());
  for (std::size_t at = 0; at < sightings.size(); ++at) {
    const HolderView& each = sightings[at];
    ballots[at] = {.verdict = Verdict::yes, .fence = each.fence, .remaining = each.remaining};
  }
  HolderView merged = std::ranges::max(sightings, {}, &HolderView::remaining);
  merged.remaining = lease_of(ballots);
  merged.fence = quorum.options().fences ? fence_below_later_leases(ballots) : 0;
  return merged;
}

std::optional<model::Granted> merge_mine(const Quorum& quorum, const Answers& answers) {
  std::vector<Ballot> ballots(quorum.size());
  for (std::size_t at = 0; at < quorum.size(); ++at) {
    const auto* seen = seen_by(answers, at);
    if (!seen || !seen->mine) continue;
    ballots[at] = {.verdict = Verdict::yes,
                   .fence = seen->mine->fence,
                   .remaining = seen->mine->remaining,
                   .held_for = seen->mine->held_for};
  }
  if (rule(ballots) != Ruling::carried) return std::nullopt;
  const Fence fence = quorum.options().fences ? fence_below_later_leases(ballots) : 0;
  return model::Granted{fence, lease_of(ballots), held_for(ballots)};
}

LockView merge(const Quorum& quorum, const Answers& answers) {
  const auto needed = majority_of(quorum.size());
  LockView merged;
  Sightings<HolderView> holders;
  Sightings<WaiterView> waiters;
  for (std::size_t at = 0; at < quorum.size(); ++at) {
    const Member& member = *quorum.members()[at];
    const auto* seen = seen_by(answers, at);
    merged.members.push_back(row(member, answers.ballots[at], seen));
    constexpr Micros of_any_ttl{};
    auto reason = seen ? member.why_not_counted(quorum.now(), Stake::grant, of_any_ttl,
                                                quorum.options().grace)
                       : std::nullopt;
    if (reason) merged.members.back().reason = std::move(*reason);
    if (reason) merged.members.back().counts = false;
    if (!seen) continue;
    const bool is_in_use = !seen->lock.holders.empty() || !seen->lock.waiters.empty();
    if (is_in_use || merged.capacity == 0) {
      merged.kind = seen->lock.kind;
      merged.capacity = seen->lock.capacity;
      merged.order = seen->lock.order;
    }
    collect(holders, seen->lock.holders);
    collect(waiters, seen->lock.waiters);
  }
  for (auto& [party, sightings] : holders) {
    if (sightings.size() < needed) continue;
    merged.holders.push_back(merge(quorum, sightings));
  }
  for (auto& [party, sightings] : waiters) {
    merged.waiters.push_back(
        std::ranges::max(sightings, {}, [](const WaiterView& each) { return each.waiting_for; }));
  }
  std::ranges::sort(merged.waiters, std::greater<>(), &WaiterView::waiting_for);
  return merged;
}

Task<Answers> look(QuorumPtr quorum, LockName name, model::LockCommand command,
                   LocalTime deadline) {
  Question question{.name = std::move(name),
                    .command = std::move(command),
                    .deadline = quorum->deadline_for(max_ttl, deadline)};
  return quorum->ask(std::move(question), {.until = Round::Until::all});
}

bool knows_it(const Answers& answers, std::size_t member) {
  const auto* seen = seen_by(answers, member);
  return seen && (!seen->lock.holders.empty() || !seen->lock.waiters.empty());
}

// "<member>/<its cursor>": members are listed one after the other.
struct Position {
  std::size_t member = 0;
  std::string cursor;
};

Result<Position> position_from(const std::string& cursor, std::size_t members) {
  if (cursor.empty()) return Position{};
  Position position;
  const char* const end = cursor.data() + cursor.size();
  const auto [rest, failure] = std::from_chars(cursor.data(), end, position.member);
  if (failure != std::errc{} || rest == end || *rest != '/' || position.member >= members) {
    return fail(Errc::bad_input, "cursor: must be the `next` of an earlier page");
  }
  position.cursor.assign(rest + 1, end);
  return position;
}

// A lock is listed where it is met first, as a majority has it. Nothing if it was or will be
// listed with another member, or no majority holds it and nobody waits.
using Listed = Result<std::optional<LockView>>;
Task<Listed> listed(QuorumPtr quorum, std::string text, std::size_t member, LocalTime deadline) {
  const auto name = LockName::make(text);
  if (!name) co_return std::nullopt;
  auto looking = look(quorum, *name, {.spec = {}, .verb = model::Inspect{}}, deadline);
  const Answers answers = co_await std::move(looking);
  if (count(answers.ballots, Verdict::yes) < majority_of(quorum->size())) {
    co_return quorum_not_reached(*quorum, *name, answers, "showed");
  }
  for (std::size_t before = 0; before < member; ++before) {
    if (knows_it(answers, before)) co_return std::nullopt;
  }
  LockView view = merge(*quorum, answers);
  view.name = std::move(text);
  if (view.holders.empty() && view.waiters.empty()) co_return std::nullopt;
  co_return view;
}

struct Looks {
  Looks(const std::shared_ptr<runtime::Runtime>& runtime, std::size_t count)
      : done(runtime), found(count), missing(count) {}
  void put(std::size_t at, Listed&& one) {
    std::unique_lock lock(mutex);
    found[at] = std::move(one);
    const bool is_last = --missing == 0;
    lock.unlock();
    if (is_last) done.notify();
  }

  runtime::Event done;
  std::mutex mutex;
  std::vector<Listed> found;  // guarded by mutex
  std::size_t missing;        // guarded by mutex
};

// All at once: a member that is silent takes its time only once.
Task<Result<std::vector<LockView>>> listed_all(QuorumPtr quorum, std::vector<std::string> names,
                                               std::size_t member, LocalTime deadline) {
  std::vector<LockView> views;
  if (names.empty()) co_return views;
  const auto looks = std::make_shared<Looks>(quorum->runtime(), names.size());
  for (std::size_t at = 0; at < names.size(); ++at) {
    runtime::spawn(listed(quorum, std::move(names[at]), member, deadline),
                   [looks, at](Listed&& one) { looks->put(at, std::move(one)); });
  }
  co_await looks->done.wait_until(LocalTime::max());
  const std::lock_guard lock(looks->mutex);
  for (Listed& one : looks->found) {
    if (!one) co_return std::unexpected(std::move(one.error()));
    if (*one) views.push_back(std::move(**one));
  }
  co_return views;
}

// Those that were not met before.
std::vector<std::string> new_names(std::vector<LockView> locks, std::set<std::string>& met) {
  std::vector<std::string> names;
  for (LockView& lock : locks) {
    if (met.insert(lock.name).second) names.push_back(std::move(lock.name));
  }
  return names;
}

}  // namespace

Task<Result<Reply>> inspect(QuorumPtr quorum, store::Request request) {
  auto looking =
      look(quorum, request.name, std::get<model::LockCommand>(request.command), request.deadline);
  const Answers answers = co_await std::move(looking);
  if (count(answers.ballots, Verdict::yes) < majority_of(quorum->size())) {
    co_return quorum_not_reached(*quorum, request.name, answers, "showed");
  }
  model::Seen seen{.lock = merge(*quorum, answers), .mine = merge_mine(*quorum, answers)};
  co_return Reply{.outcome = model::LockOutcome(std::move(seen))};
}

// A lock that a majority holds is met although a minority of the members cannot be listed.
Task<Result<LockPage>> list(QuorumPtr quorum, store::ListRequest request) {
  auto position = position_from(request.cursor, quorum->size());
  if (!position) co_return std::unexpected(std::move(position.error()));
  LockPage page;
  std::set<std::string> met;
  std::size_t away = 0;
  while (position->member < quorum->size() && page.locks.size() < request.limit) {
    store::ListRequest ask = request;
    ask.cursor = position->cursor;
    ask.limit = request.limit - static_cast<std::uint32_t>(page.locks.size());
    ask.deadline = quorum->deadline_for(
        max_ttl, quorum->share_of(request.deadline, quorum->size() - position->member + 1));
    auto listing = quorum->members()[position->member]->store->list(std::move(ask));
    Result<LockPage> part = co_await std::move(listing);
    if (!part) {
      const bool too_many = ++away > quorum->size() - majority_of(quorum->size());
      if (too_many || part.error().code == Errc::bad_input) {
        co_return std::unexpected(std::move(part.error()));
      }
    } else {
      auto looking = listed_all(quorum, new_names(std::move(part->locks), met), position->member,
                                quorum->share_of(request.deadline, 2));
      auto views = co_await std::move(looking);
      if (!views) co_return std::unexpected(std::move(views.error()));
      std::ranges::move(*views, std::back_inserter(page.locks));
    }
    if (part && !part->next.empty()) {
      position->cursor = std::move(part->next);
    } else {
      ++position->member;
      position->cursor.clear();
    }
  }
  if (position->member < quorum->size()) {
    page.next = fmt::format("{}/{}", position->member, position->cursor);
  }
  co_return page;
}

}  // namespace holdfast::backends::quorum
