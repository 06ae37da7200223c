// SPDX-License-Identifier: Apache-2.0
#include "client/take.hpp"

#include "client/explain.hpp"
#include "runtime/backoff.hpp"
#include "runtime/event.hpp"
#include "runtime/spawn.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::client {

using runtime::LocalTime;
using store::Reply;
using store::Request;

namespace {

Request question(Core& core, const Wanted& wanted) {
  model::Acquire verb{.owner = wanted.owner,
                      .request = wanted.request,
                      .permits = wanted.permits,
                      .ttl = wanted.ttl,
                      .wait = false,
                      .metadata = wanted.metadata};
  return {.name = wanted.name,
          .command = model::LockCommand{wanted.spec, std::move(verb)},
          .deadline = core.runtime().now() + command_timeout};
}

Request confirmation(Core& core, const Wanted& wanted) {
  model::Renew verb{.owner = wanted.owner, .request = wanted.request, .ttl = wanted.ttl};
  return {.name = wanted.name,
          .command = model::LockCommand{wanted.spec, std::move(verb)},
          .deadline = core.runtime().now() + command_timeout};
}

Micros since(Core& core, LocalTime began) {
  return std::chrono::floor<Micros>(core.runtime().now() - began);
}

struct Times {
  LocalTime began{};        // of the call
  LocalTime before_send{};  // of the question whose reply is judged
};

TakeResult judge(const Core& core, const Wanted& wanted, Times times, Result<Reply> reply) {
  if (!reply) return std::unexpected(NotTaken{std::move(reply.error())});
  auto& outcome = std::get<model::LockOutcome>(reply->outcome);
  if (const auto* granted = std::get_if<model::Granted>(&outcome)) {
    // Up to the question: the lease begins no earlier, and the way back is not the caller's loss.
    const auto waited = std::chrono::floor<Micros>(times.before_send - times.began);
    const Micros remaining = std::min(granted->remaining, wanted.ttl);
    return Taken{wanted.request,
                 granted->fence,
                 remaining,
                 waited,
                 valid_until(times.before_send, remaining, core.drift()),
                 times.before_send};
  }
  if (auto* busy = std::get_if<model::Busy>(&outcome)) {
    Error error{Errc::busy, explain_busy(wanted.name, *busy)};
    return std::unexpected(NotTaken{std::move(error), std::move(busy->holders), busy->retry_after});
  }
  return std::unexpected(NotTaken{explain_refusal(wanted.name, outcome)});
}

bool may_be_in_store(const TakeResult& result) {
  if (result) return false;
  const Errc code = result.error().error.code;
  return code == Errc::outcome_unknown || code == Errc::not_replicated;
}

bool may_be_free_soon(Errc code) { return code == Errc::busy || code == Errc::quorum_not_reached; }

// Whoever asks again may be answered.
bool is_passing(Errc code) { return code == Errc::unavailable || code == Errc::outcome_unknown; }

// A pause that ends when the caller leaves; then it answers false.
Task<bool> pause(std::shared_ptr<Core> core, Micros delay, std::stop_token stop) {
  const auto alarm = std::make_shared<runtime::Event>(core->shared_runtime());
  const std::stop_callback on_stop(
      stop, [core, alarm] { core->runtime().post([alarm] { alarm->notify(); }); });
  co_await alarm->wait_until(core->runtime().now() + delay);
  co_return !stop.stop_requested();
}

}  // namespace

TakeResult take_now(Core& core, const Wanted& wanted) {
  const LocalTime began = core.runtime().now();
  auto asking = core.store().apply(question(core, wanted));
  return judge(core, wanted, {began, began}, asking.take_ready());
}

Task<TakeResult> take_at_once(std::shared_ptr<Core> core, Wanted wanted, std::stop_token stop) {
  const LocalTime began = core->runtime().now();
  const store::Retry retry = core->store().capabilities().retry;
  for (std::uint32_t retries = 0;; ++retries) {
    const LocalTime before_send = core->runtime().now();
    Request request = question(*core, wanted);
    auto asking = core->store().apply(std::move(request));
    Result<Reply> reply = co_await std::move(asking);
    TakeResult result = judge(*core, wanted, {began, before_send}, std::move(reply));
    if (may_be_in_store(result)) give_back(core, wanted);
    if (result) result->attempts = retries + 1;
    if (result || retries == retry.times || !may_be_free_soon(result.error().error.code))
      co_return result;
    auto pausing =
        pause(core, runtime::jittered(retry.delay, retry.jitter, core->runtime().random()), stop);
    const bool goes_on = co_await std::move(pausing);
    if (!goes_on) co_return result;
    // A late copy of the last one must not pass for this one.
    wanted.request = core->fresh_request();
  }
}

Task<TakeResult> take_waiting(std::shared_ptr<Core> core, Wanted wanted, std::stop_token stop) {
  const LocalTime began = core->runtime().now();
  const LocalTime give_up_at = began + wanted.wait;
  // Of the claim that is not confirmed: a message that nobody hears would give it back.
  std::shared_ptr<store::Listening> ear;
  while (true) {
    auto waiting = acquire(core, wanted, stop);
    Result<Won> won = co_await std::move(waiting);
    if (!won) {
      // The confirmation before may have come through after all.
      if (ear) give_back(core, wanted);
      co_return std::unexpected(NotTaken{std::move(won.error())});
    }
    Wanted mine = wanted;
    mine.request = won->request;
    // Before it is confirmed: what is shared could not be given back after that.
    if (won->claim && stop.stop_requested()) {
      give_back(core, mine);
      co_return std::unexpected(NotTaken{Error{Errc::cancelled, "the caller left"}});
    }
    if (!won->claim) {
      const auto left = std::chrono::floor<Micros>(won->valid_until - core->runtime().now());
      co_return Taken{won->request, won->fence, std::max(left, Micros::zero()), since(*core, began),
                      won->valid_until, won->asked};
    }
    // Handed over: what the caller gets must be a lease, not the short claim it begins with.
    const LocalTime before_send = core->runtime().now();
    Request request = confirmation(*core, mine);
    auto confirming = core->store().apply(std::move(request));
    Result<Reply> reply = co_await std::move(confirming);
    const bool is_answered = reply.has_value();
    TakeResult result = judge(*core, mine, {began, before_send}, std::move(reply));
    if (result) co_return result;
    // Asking for it again confirms the claim as well, or finds it confirmed, or stands in line.
    const auto until = std::max<LocalTime>(give_up_at, won->valid_until);
    wanted.wait = std::chrono::floor<Micros>(until - core->runtime().now());
    const bool may_pass = !is_answered && is_passing(result.error().error.code);
    if (!may_pass || wanted.wait <= Micros::zero()) {
      give_back(core, mine);
      co_return result;
    }
    ear = won->ear;
    wanted.request = won->request;
    wanted.on_queued = nullptr;
  }
}

Wanted held(Wanted wanted, const Taken& taken) {
  wanted.request = taken.request;
  return wanted;
}

std::shared_ptr<HeldLease> keep_renewed(const std::shared_ptr<Core>& core, const Wanted& wanted,
                                        const Taken& taken) {
  HeldLease::Identity identity{.name = wanted.name,
                               .spec = wanted.spec,
                               .owner = wanted.owner,
                               .request = taken.request,
                               .permits = wanted.permits,
                               .metadata = wanted.metadata};
  const Won won{.request = taken.request,
                .fence = taken.fence,
                .valid_until = taken.valid_until,
                .asked = taken.asked,
                .claim = std::nullopt,
                .ear = nullptr};
  const Terms terms{.ttl = wanted.ttl, .renew = true};
  return HeldLease::start(core, std::move(identity), terms, won);
}

void give_back(const std::shared_ptr<Core>& core, const Wanted& wanted) {
  model::Release what{wanted.owner, wanted.request, wanted.is_shared};
  core->runtime().post(
      [core, name = wanted.name, what = std::move(what), ttl = wanted.ttl]() mutable {
        runtime::spawn(withdraw(core, std::move(name), std::move(what), ttl));
      });
}

}  // namespace holdfast::client
