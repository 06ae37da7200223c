// SPDX-License-Identifier: Apache-2.0
#include "shop.hpp"

#include <chrono>
#include <optional>

using namespace std::chrono_literals;

namespace payments {

namespace {

using holdfast::Answer;
using holdfast::Ending;
using holdfast::Errc;
using holdfast::Result;

// Short, so that nobody has to wait long for a holder that died. Both are renewed while they live.
constexpr auto lease = 500ms;
constexpr auto guard = 1s;
constexpr auto patience = 30s;

void interfere(const std::function<void()>& with) {
  if (with) with();
}

Told told(const holdfast::Once& once) {
  switch (once.ending) {
    case Ending::ran:
    case Ending::replayed: return {.ok = true, .text = once.answer.body};
    case Ending::in_progress: return {.text = "your payment is still under way"};
    case Ending::mismatch: return {.text = "this order was asked for with another amount"};
    case Ending::failed_before: return {.text = once.failure};
    case Ending::unknown: return {.text = "we do not know yet; please do not pay again"};
  }
  return {};
}

}  // namespace

// One try, under a lock of the account.
Result<Booked> Shop::charge_once(const Payment& payment, holdfast::Fence run_fence,
                                 const Interference& interference) {
  std::optional<holdfast::Lease> held;
  if (layers_.lock) {
    auto acquired =
        client_.mutex("account:" + payment.account).acquire({.ttl = lease, .wait = patience});
    if (!acquired) return std::unexpected(acquired.error());
    held.emplace(std::move(*acquired));
  }
  const auto fence = held ? held->fence() : run_fence;
  const auto before = books_.balance(payment.account);
  interfere(interference.after_reading);
  const auto booked =
      books_.book(payment.order, {payment.account, before - payment.amount}, payment.amount, fence);
  interfere(interference.after_booking);
  return booked;
}

Result<Answer> Shop::charge(const Payment& payment, holdfast::Fence run_fence,
                            const Interference& interference) {
  const std::string receipt = "\"paid: " + payment.order + "\"";
  auto booked = charge_once(payment, run_fence, interference);
  // Somebody else had the account meanwhile. What we read of it is worth nothing: once more.
  if (booked && *booked == Booked::too_old) booked = charge_once(payment, run_fence, {});
  if (!booked) return std::unexpected(booked.error());
  switch (*booked) {
    case Booked::paid: return Answer{.body = receipt};
    case Booked::paid_before:
      // A run before this one got as far as the database, and no further. With idempotency it is
      // the same request, and deserves the same answer; without it nobody can tell.
      if (layers_.idempotency) return Answer{.body = receipt};
      return holdfast::fail(Errc::busy, "this order was paid before");
    case Booked::too_old: break;
  }
  return holdfast::fail(Errc::lost, "somebody else changes this account; please try again");
}

Told Shop::pay(const Payment& payment, const Interference& interference) {
  if (!layers_.idempotency) {
    auto answer = charge(payment, 0, interference);
    return answer ? Told{.ok = true, .text = answer->body} : Told{.text = answer.error().message};
  }
  // The key is the order: every retry of the customer has the same one. The amount is what must not
  // differ.
  const auto once = client_.idempotent(
      "payment:" + payment.order,
      {.fingerprint = std::to_string(payment.amount), .wait = patience, .guard = guard},
      [&](const holdfast::Run& run) { return charge(payment, run.fence(), interference); });
  return once ? told(*once) : Told{.text = once.error().message};
}

}  // namespace payments
