// SPDX-License-Identifier: Apache-2.0
#include "server/endpoints/patterns/take_lease.hpp"

#include "server/locks/ask.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

namespace holdfast::server::patterns {

using client::HeldLease;

namespace {

LeasePtr start_lease(const LeaseWanted& order, const client::Won& won) {
  const auto& wanted = order.wanted;
  return HeldLease::start(order.core,
                          {.name = wanted.name,
                           .spec = wanted.spec,
                           .owner = wanted.owner,
                           .request = won.request,
                           .permits = wanted.permits,
                           .metadata = wanted.metadata},
                          order.terms, won);
}

Task<Taking> try_once(LeaseWanted order) {
  auto taking = take_at_once(order.core, order.wanted, order.stop);
  const TakeResult taken = co_await std::move(taking);
  if (!taken) co_return std::unexpected(taken.error());
  if (taken->valid_until > order.core->runtime().now()) {
    const client::Won won{.request = taken->request,
                          .fence = taken->fence,
                          .valid_until = taken->valid_until,
                          .asked = taken->asked};
    co_return Held{start_lease(order, won), taken->attempts};
  }
  order.wanted.request = taken->request;
  give_back(order.core, order.wanted);
  NotTaken late{Error{Errc::timed_out, "the store's answer took longer than the lease"}};
  co_return std::unexpected(std::move(late));
}

// A waiter was told only that it took too long, and wants to know when to come again.
Task<Micros> until_free(std::shared_ptr<Core> core, LockName name, std::uint32_t permits) {
  auto asking = ask(*core, std::move(name), model::Inspect{});
  const Result<store::Reply> reply = co_await std::move(asking);
  if (!reply) co_return Micros::zero();
  const auto& seen = std::get<model::Seen>(std::get<model::LockOutcome>(reply->outcome));
  const auto& holders = seen.lock.holders;
  if (holders.empty()) co_return Micros::zero();
  const auto [first, last] = std::ranges::minmax_element(holders, {}, &HolderView::remaining);
  co_return permits == all_permits ? last->remaining : first->remaining;
}

Task<NotTaken> explain(LeaseWanted order, Error error) {
  if (order.wait->is_victim) {
    error = {Errc::deadlock, fmt::format("the wait for '{}' was ended to break a circle of waits",
                                         order.wanted.name.str())};
  }
  NotTaken why{std::move(error)};
  if (why.error.code == Errc::timed_out) {
    auto looking = until_free(order.core, order.wanted.name, order.wanted.permits);
    why.retry_after = co_await std::move(looking);
  }
  co_return why;
}

Task<Taking> wait_for_it(LeaseWanted order) {
  const auto wait = order.wait;
  const std::stop_callback left(order.stop, [wait] { wait->stop.request_stop(); });
  auto acquiring = client::acquire(order.core, order.wanted, wait->stop.get_token());
  const Result<client::Won> won = co_await std::move(acquiring);
  if (!won) {
    auto explaining = explain(order, won.error());
    NotTaken why = co_await std::move(explaining);
    co_return std::unexpected(std::move(why));
  }
  LeasePtr lease = start_lease(order, *won);
  if (!won->claim) co_return Held{lease};
  // Handed over: a short claim, and the work should know how much time it really has.
  auto extending = lease->extend(order.wanted.ttl);
  const Result<void> extended = co_await std::move(extending);
  if (extended) co_return Held{lease};
  lease->abandon();
  NotTaken why{extended.error()};
  co_return std::unexpected(std::move(why));
}

}  // namespace

Task<Taking> take_lease(LeaseWanted order) {
  order.wanted.request = order.core->fresh_request();
  return order.wait ? wait_for_it(std::move(order)) : try_once(std::move(order));
}

Task<bool> release_all(std::vector<LeasePtr> leases) {
  bool were_ours = true;
  for (const auto& lease : std::views::reverse(leases)) {
    const bool is_valid = lease->remaining() > Micros::zero();
    auto releasing = lease->release();
    const Result<Released> released = co_await std::move(releasing);
    // No answer: it was valid by our clock, and ends by itself.
    were_ours = were_ours && is_valid && (!released || *released == Released::released);
  }
  co_return were_ours;
}

}  // namespace holdfast::server::patterns
