// SPDX-License-Identifier: Apache-2.0
#include "server/endpoints/patterns/single.hpp"

#include "model/party.hpp"
#include "server/endpoints/patterns/bodies.hpp"
#include "server/endpoints/patterns/operation.hpp"
#include "server/endpoints/patterns/take_lease.hpp"
#include "server/journal.hpp"
#include "server/metrics/metrics.hpp"
#include "server/services.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::server::patterns {

namespace {

constexpr Micros max_upstream_time = std::chrono::minutes(10);

void record(const Job& job, Happening happening) {
  const auto& wanted = job.order.wanted;
  happening.name = wanted.name.str();
  happening.kind = wanted.spec.kind;
  happening.permits = wanted.permits;
  happening.metadata = wanted.metadata;
  happening.party = model::party_of(wanted.owner.view());
  job.services.journal.record(job.who, happening);
}

ByOutcome& acquisitions(const Job& job) {
  const auto kind = static_cast<std::size_t>(job.order.wanted.spec.kind) - 1;
  return job.services.metrics().acquisitions[kind];
}

Response refuse(const Job& job, const NotTaken& why) {
  const auto& error = why.error;
  acquisitions(job).add(error.code);
  if (job.place) record(job, {.type = EventType::left});
  const bool is_locked = error.code == Errc::busy || error.code == Errc::timed_out;
  if (!is_locked) return error.code == Errc::cancelled ? shutting_down() : refused(error);
  job.services.metrics().contention.refused(job.order.wanted.name.str());
  return locked(job.order.resource, why.retry_after, error.message);
}

void write_down_end(const Job& job, Fence fence, Micros held, bool were_ours) {
  record(job,
         {.type = were_ours ? EventType::released : EventType::lost, .fence = fence, .held = held});
  job.services.metrics().hold_time.add(held);
}

Leash leash_of(const Job& job, client::HeldLease& first) {
  const Micros left = first.remaining();
  const Micros time = job.order.terms.renew ? max_upstream_time : left - answer_margin(left);
  return {.lost = first.lost(),
          .stop = job.stop,
          .answer_by = job.services.core().runtime().now() + time};
}

Response encode(const Job& job, Outcome outcome, Fence fence, bool were_ours) {
  if (outcome.end == Outcome::End::lost || !were_ours) {
    return failed(failed_operation,
                  {Errc::lost, fmt::format("the lease on '{}' ended before the operation did",
                                           job.order.wanted.name.str())});
  }
  if (outcome.end == Outcome::End::stopped) return shutting_down();
  if (outcome.answer) return std::move(*outcome.answer);
  auto body = success_json(job.order.resource, outcome.took, fence);
  if (job.order.pattern.kind == Kind::reentrant) body["depth"] = job.order.depth;
  return answer(200, body);
}

}  // namespace

void tell_effect(const Job& job, Effect effect, bool were_ours) {
  if (!job.effect) return;
  const bool is_only_a_hold = job.order.operation.upstream.empty();
  const auto instead = is_only_a_hold ? Effect::none : Effect::unknown;
  *job.effect = effect == Effect::done && !were_ours ? instead : effect;
}

Task<Response> run_single(Job job) {
  const auto& order = job.order;
  if (job.place) record(job, {.type = EventType::queued});
  std::vector<LeasePtr> leases;
  while (leases.size() < order.depth) {
    LeaseWanted lease{.core = job.services.shared_core(),
                      .wanted = order.wanted,
                      .terms = order.terms,
                      .wait = job.place ? job.place->wait() : nullptr,
                      .stop = job.stop};
    auto taking = take_lease(std::move(lease));
    const Taking taken = co_await std::move(taking);
    if (!taken) {
      auto releasing = release_all(std::move(leases));
      co_await std::move(releasing);
      co_return refuse(job, taken.error());
    }
    leases.push_back(taken->lease);
  }
  job.place.reset();
  const Fence fence = leases.front()->fence();
  record(job,
         {.type = EventType::acquired, .fence = fence, .remaining = leases.front()->remaining()});
  Ticket ticket{order.resource, fence};
  Leash leash = leash_of(job, *leases.front());
  auto working = perform(job.services, order.operation, std::move(ticket), std::move(leash));
  Outcome outcome = co_await std::move(working);
  auto releasing = release_all(std::move(leases));
  const bool were_ours = co_await std::move(releasing);
  write_down_end(job, fence, outcome.took, were_ours);
  tell_effect(job, outcome.effect, were_ours);
  co_return encode(job, std::move(outcome), fence, were_ours);
}

}  // namespace holdfast::server::patterns
