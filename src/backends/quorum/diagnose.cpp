// SPDX-License-Identifier: Apache-2.0
//
// What an operator should know about the members together.
#include <holdfast/options.hpp>

#include "backends/quorum/quorum.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace holdfast::backends::quorum {

namespace {

struct Found {
  std::vector<std::string> sentences;
  std::size_t away = 0;
  bool may_forget = false;
  std::optional<Micros> earliest;
  std::optional<Micros> latest;
};

void note_clock(Found& found, Micros offset) {
  found.earliest = std::min(found.earliest.value_or(offset), offset);
  found.latest = std::max(found.latest.value_or(offset), offset);
}

void judge(const Quorum& quorum, Found& found) {
  const auto size = quorum.size();
  if (size % 2 == 0) {
    found.sentences.push_back(
        fmt::format("{} members survive the loss of {}, as {} would: an even number only costs",
                    size, size - majority_of(size), size - 1));
  }
  if (found.away > 0) {
    found.sentences.push_back(fmt::format(
        "{} of {} members cannot be reached; {} must answer, so {} more may go", found.away, size,
        majority_of(size),
        std::max<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(size - majority_of(size)) -
                                        static_cast<std::ptrdiff_t>(found.away))));
  }
  const Micros spread = found.earliest ? *found.latest - *found.earliest : Micros::zero();
  constexpr Micros noticeable = 100ms;
  if (spread > noticeable) {
    found.sentences.push_back(
        fmt::format("the members' clocks are {} ms apart",
                    std::chrono::ceil<std::chrono::milliseconds>(spread).count()));
  }
  const Micros grace = quorum.options().grace;
  if (found.may_forget && grace == Micros::zero()) {
    const auto advised = std::chrono::ceil<std::chrono::seconds>(default_grace + spread);
    found.sentences.push_back(fmt::format(
        "members without appendonly forget their locks when they are restarted, and with grace=0s "
        "they grant them again at once: set grace={}s (the longest ttl in use, and no less than "
        "the "
        "difference of the clocks), or turn appendonly on",
        advised.count()));
  } else if (found.may_forget && spread > grace) {
    found.sentences.push_back(fmt::format(
        "that is more than grace, {}: a member without appendonly whose clock is behind "
        "can give smaller fences than before, once it was restarted",
        in_words(grace)));
  }
}

// Of a name that nobody uses: a member that answers this is there.
Task<Answers> look_around(QuorumPtr quorum, LocalTime deadline) {
  Question question{.name = LockName::make("holdfast-doctor").value(),
                    .command = model::LockCommand{.spec = {}, .verb = model::Inspect{}},
                    .deadline = quorum->deadline_for(max_ttl, deadline)};
  return quorum->ask(std::move(question), {.until = Round::Until::all});
}

}  // namespace

Task<Result<std::vector<std::string>>> diagnose(QuorumPtr quorum, LocalTime deadline) {
  Found found;
  auto looking = look_around(quorum, deadline);
  const Answers answers = co_await std::move(looking);
  for (std::size_t at = 0; at < quorum->size(); ++at) {
    const auto& member = quorum->members()[at];
    if (!answers.replies[at]) {
      ++found.away;
      found.sentences.push_back(fmt::format("{}: {}", member->address, answers.ballots[at].reason));
      continue;
    }
    auto asking = member->store->diagnose(quorum->deadline_for(max_member_timeout, deadline));
    const Result<std::vector<std::string>> sentences = co_await std::move(asking);
    if (!sentences) {
      found.sentences.push_back(fmt::format("{}: {}", member->address, sentences.error().message));
      continue;
    }
    for (const auto& each : *sentences) {
      found.sentences.push_back(
          each.starts_with(member->address) ? each : fmt::format("{}: {}", member->address, each));
    }
    auto measuring =
        member->store->clock_offset(quorum->deadline_for(max_member_timeout, deadline));
    const Result<Micros> offset = co_await std::move(measuring);
    if (offset) note_clock(found, *offset);
    if (member->is_forgetful()) found.may_forget = true;
  }
  if (quorum->size() - found.away < majority_of(quorum->size())) {
    co_return fail(
        Errc::quorum_not_reached,
        fmt::format("{} of {} members cannot be reached, and {} must answer: {}", found.away,
                    quorum->size(), majority_of(quorum->size()), fmt::join(found.sentences, "; ")));
  }
  judge(*quorum, found);
  co_return std::move(found.sentences);
}

}  // namespace holdfast::backends::quorum
