// SPDX-License-Identifier: Apache-2.0
#include "server/endpoints/patterns/redlock.hpp"

#include "runtime/event.hpp"
#include "server/endpoints/patterns/ask_all.hpp"
#include "server/endpoints/patterns/bodies.hpp"
#include "server/endpoints/patterns/operation.hpp"
#include "server/endpoints/patterns/quorum.hpp"
#include "server/locks/take.hpp"
#include "server/services.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::server::patterns {

namespace {

using std::chrono::milliseconds;

constexpr unsigned max_attempts = 4;  // the first one and three more
constexpr Micros retry_delay = milliseconds(200);
constexpr Micros retry_jitter = milliseconds(200);

// A member that thinks long costs validity, and a dead one is waited for at every attempt.
Micros member_timeout(Micros ttl) {
  return std::clamp<Micros>(ttl / 10, milliseconds(20), client::command_timeout);
}

Vote vote_of(const Result<store::Reply>& reply) {
  if (!reply) return {};
  const auto& outcome = std::get<model::LockOutcome>(reply->outcome);
  if (const auto* granted = std::get_if<model::Granted>(&outcome)) {
    return {.kind = Vote::Kind::granted, .fence = granted->fence};
  }
  if (const auto* busy = std::get_if<model::Busy>(&outcome)) {
    return {.kind = Vote::Kind::busy, .retry_after = busy->retry_after};
  }
  return {};
}

// How many members no longer knew of the lock. Those that did not answer are told again in the
// background, until the lease has ended there.
Task<std::size_t> release_on_all(Members::Cores members, client::Wanted wanted) {
  model::LockCommand command{wanted.spec, model::Release{wanted.owner, wanted.request}};
  auto asking = ask_all(members, wanted.name, std::move(command), member_timeout(wanted.ttl));
  const Replies replies = co_await std::move(asking);
  std::size_t gone = 0;
  for (std::size_t at = 0; at < members.size(); ++at) {
    if (!replies[at]) {
      if (members[at]) give_back(members[at], wanted);
      continue;
    }
    const auto& outcome = std::get<model::LockOutcome>(replies[at]->outcome);
    if (!std::holds_alternative<model::Released>(outcome)) ++gone;
  }
  co_return gone;
}

struct Attempt {
  Verdict verdict;
  LocalTime valid_until{};
};

Task<Attempt> vote_once(Members::Cores members, client::Wanted wanted) {
  const auto runtime = runtime::shared_runtime();
  const LocalTime before = runtime->now();
  model::LockCommand command{wanted.spec, model::Acquire{.owner = wanted.owner,
                                                         .request = wanted.request,
                                                         .permits = wanted.permits,
                                                         .ttl = wanted.ttl,
                                                         .metadata = wanted.metadata}};
  auto asking = ask_all(members, wanted.name, std::move(command), member_timeout(wanted.ttl));
  const Replies replies = co_await std::move(asking);
  std::vector<Vote> votes;
  for (const auto& reply : replies) votes.push_back(vote_of(reply));
  const LocalTime now = runtime->now();
  const auto verdict = decide(votes, wanted.ttl, std::chrono::ceil<Micros>(now - before));
  if (verdict.kind != Verdict::Kind::won) {
    auto releasing = release_on_all(members, wanted);
    co_await std::move(releasing);
  }
  co_return Attempt{verdict, now + verdict.validity};
}

// A pause that ends when the caller leaves.
Task<bool> pause(std::shared_ptr<runtime::Runtime> runtime, Micros delay, std::stop_token stop) {
  const auto alarm = std::make_shared<runtime::Event>(runtime);
  const std::stop_callback on_stop(
      stop, [runtime, alarm] { runtime->post([alarm] { alarm->notify(); }); });
  co_await alarm->wait_until(runtime->now() + delay);
  co_return !stop.stop_requested();
}

Micros next_pause(std::uint64_t random) {
  const auto span = static_cast<std::uint64_t>(2 * retry_jitter.count() + 1);
  return retry_delay - retry_jitter + Micros(random % span);
}

Response refuse(const Job& job, const Verdict& verdict) {
  const auto name = job.order.wanted.name.str();
  switch (verdict.kind) {
    case Verdict::Kind::busy:
      return locked(job.order.resource, verdict.retry_after,
                    fmt::format("'{}' is held by another on a majority of the members", name));
    case Verdict::Kind::too_late:
      return quorum_not_reached(
          fmt::format("'{}': a majority granted it only when the lease had ended", name));
    default:
      return quorum_not_reached(
          fmt::format("'{}': fewer than a majority of the members answered", name));
  }
}

Response encode(const Job& job, Outcome outcome, const Attempt& won, bool is_lost,
                unsigned attempts) {
  if (outcome.end == Outcome::End::lost || is_lost) {
    return failed(failed_operation,
                  {Errc::lost, fmt::format("the majority for '{}' ended before the operation did",
                                           job.order.wanted.name.str())});
  }
  if (outcome.end == Outcome::End::stopped) return shutting_down();
  if (outcome.answer) return std::move(*outcome.answer);
  const auto left = won.valid_until - runtime::LocalClock::now();
  const auto expires = std::chrono::floor<milliseconds>(
      (std::chrono::system_clock::now() + left).time_since_epoch());
  auto body = success_json(job.order.resource, outcome.took, won.verdict.fence);
  body["metadata"] = {{"expiration", expires.count()}, {"attempts", attempts}};
  return answer(200, body);
}

}  // namespace

Task<Response> run_redlock(Job job) {
  const auto members = job.services.members->cores();
  const auto runtime = job.services.core().shared_runtime();
  client::Wanted wanted = job.order.wanted;
  Attempt attempt;
  unsigned attempts = 0;
  for (;;) {
    // Another request each time: a late copy of the last attempt must not pass for this one.
    wanted.request = job.services.core().fresh_request();
    auto voting = vote_once(members, wanted);
    attempt = co_await std::move(voting);
    const bool is_won = attempt.verdict.kind == Verdict::Kind::won;
    if (++attempts == max_attempts || is_won) break;
    auto pausing = pause(runtime, next_pause(runtime->random()), job.stop);
    const bool goes_on = co_await std::move(pausing);
    if (!goes_on) co_return shutting_down();
  }
  if (attempt.verdict.kind != Verdict::Kind::won) co_return refuse(job, attempt.verdict);
  Ticket ticket{job.order.resource, attempt.verdict.fence};
  Leash leash{.lost = {},
              .stop = job.stop,
              .ends = attempt.valid_until,
              .answer_by = attempt.valid_until - answer_margin(attempt.verdict.validity)};
  auto working = perform(job.services, job.order.operation, std::move(ticket), std::move(leash));
  Outcome outcome = co_await std::move(working);
  auto releasing = release_on_all(members, wanted);
  const std::size_t gone = co_await std::move(releasing);
  co_return encode(job, std::move(outcome), attempt, was_lost(members.size(), gone), attempts);
}

}  // namespace holdfast::server::patterns
