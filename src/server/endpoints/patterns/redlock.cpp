// SPDX-License-Identifier: Apache-2.0
#include "server/endpoints/patterns/redlock.hpp"

#include "server/endpoints/patterns/bodies.hpp"
#include "server/endpoints/patterns/operation.hpp"
#include "server/endpoints/patterns/take_lease.hpp"
#include "server/endpoints/patterns/voters.hpp"
#include "server/services.hpp"

#include <fmt/format.h>

namespace holdfast::server::patterns {

namespace {

using std::chrono::milliseconds;

Response refuse_majority(const Job& job, const NotTaken& why) {
  if (job.stop.stop_requested()) return shutting_down();
  const auto& error = why.error;
  if (error.code == Errc::busy) return locked(job.order.resource, why.retry_after, error.message);
  const bool is_too_late = error.code == Errc::timed_out;
  if (is_too_late || error.code == Errc::quorum_not_reached) {
    return quorum_not_reached(error.message);
  }
  return refused(error);
}

// When the lease ends, by the wall clock of the guide's clients.
std::int64_t expiration_ms(Micros left) {
  const auto ends = std::chrono::system_clock::now() + left;
  return std::chrono::floor<milliseconds>(ends.time_since_epoch()).count();
}

struct Work {
  Outcome outcome;
  Fence fence = 0;
  std::int64_t expiration_ms = 0;
  bool was_ours = true;  // to its end
};

Response encode(const Job& job, Work work, std::uint32_t attempts) {
  if (work.outcome.end == Outcome::End::lost || !work.was_ours) {
    return failed(failed_operation,
                  {Errc::lost, fmt::format("the majority for '{}' ended before the operation did",
                                           job.order.wanted.name.str())});
  }
  if (work.outcome.end == Outcome::End::stopped) return shutting_down();
  if (work.outcome.answer) return std::move(*work.outcome.answer);
  auto body = success_json(job.order.resource, work.outcome.took, work.fence);
  body["metadata"] = {{"expiration", work.expiration_ms}, {"attempts", attempts}};
  return answer(200, body);
}

Leash leash_of_majority(const Job& job, client::HeldLease& lease) {
  const Micros left = lease.remaining();
  const LocalTime now = job.services.core().runtime().now();
  return {.lost = lease.lost(), .stop = job.stop, .answer_by = now + left - answer_margin(left)};
}

}  // namespace

Task<Response> run_redlock(Job job) {
  LeaseWanted wanted{.core = job.services.voters.core,
                     .wanted = job.order.wanted,
                     .terms = job.order.terms,
                     .wait = nullptr,
                     .stop = job.stop};
  auto taking = take_lease(std::move(wanted));
  const Taking taken = co_await std::move(taking);
  if (!taken) co_return refuse_majority(job, taken.error());
  const LeasePtr lease = taken->lease;
  Work work{.outcome = {}, .fence = lease->fence()};
  work.expiration_ms = expiration_ms(lease->remaining());
  Ticket ticket{job.order.resource, work.fence};
  Leash leash = leash_of_majority(job, *lease);
  auto working = perform(job.services, job.order.operation, std::move(ticket), std::move(leash));
  work.outcome = co_await std::move(working);
  std::vector<LeasePtr> leases{lease};
  auto releasing = release_all(std::move(leases));
  work.was_ours = co_await std::move(releasing);
  tell_effect(job, work.outcome.effect, work.was_ours);
  co_return encode(job, std::move(work), taken->attempts);
}

}  // namespace holdfast::server::patterns
