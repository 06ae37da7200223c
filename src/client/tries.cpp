// SPDX-License-Identifier: Apache-2.0
#include "client/tries.hpp"

#include "client/options_check.hpp"
#include "runtime/event.hpp"
#include "runtime/spawn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace holdfast::client {

namespace {

AcquireOptions for_acquire(const LockedOptions& options) {
  return {.ttl = options.ttl,
          .wait = options.wait,
          .renew = options.renew,
          .max_hold = options.max_hold,
          .note = options.note};
}

bool is_pause(Duration pause) { return pause >= min_attempt_delay && pause <= max_attempt_delay; }

bool may_change(Errc code) {
  return code == Errc::busy || code == Errc::unavailable || code == Errc::quorum_not_reached;
}

// Several that found it busy waited in vain; whatever else the last one says is said as it is.
Error in_vain(Error last, std::uint32_t attempts) {
  if (last.code != Errc::busy || attempts == 1) return last;
  return {Errc::timed_out, fmt::format("{} attempts: {}", attempts, last.message)};
}

}  // namespace

Result<void> check(const RetryPolicy& policy) {
  if (policy.attempts > max_attempts) {
    return fail(Errc::bad_input, "retry.attempts: must be between 0 and 1000");
  }
  if (!is_pause(policy.first)) {
    return fail(Errc::bad_input, "retry.first: must be between 1ms and 1h");
  }
  if (!is_pause(policy.cap)) {
    return fail(Errc::bad_input, "retry.cap: must be between 1ms and 1h");
  }
  // Written so that what is no number fails too.
  if (!(policy.factor >= 1 && policy.factor <= max_attempt_factor)) {
    return fail(Errc::bad_input, "retry.factor: must be between 1 and 10");
  }
  if (!(policy.jitter >= 0 && policy.jitter <= 1)) {
    return fail(Errc::bad_input, "retry.jitter: must be between 0 and 1");
  }
  return {};
}

Micros pause_after(const RetryPolicy& policy, std::uint32_t attempts, std::uint64_t random) {
  const auto cap = static_cast<double>(policy.cap.count());
  const double grown =
      static_cast<double>(policy.first.count()) * std::pow(policy.factor, attempts - 1.0);
  const double nominal = std::min(grown, cap);
  // From -1 to 1.
  const double moved = static_cast<double>(random >> 11U) / 0x1p52 - 1.0;
  const double pause = nominal * (1.0 + policy.jitter * moved);
  return Micros(static_cast<std::int64_t>(std::max(pause, 0.0)));
}

Task<Result<Lease>> acquire_by_tries(std::shared_ptr<LockHandle> handle, LockedOptions options,
                                     std::stop_token stop, std::source_location where) {
  const auto core = handle->core();
  const auto alarm = std::make_shared<runtime::Event>(core->shared_runtime());
  // From the runtime's thread, because this resumes the coroutine, which may end inside of it.
  const std::stop_callback on_stop(
      stop, [&core, alarm] { core->runtime().post([alarm] { alarm->notify(); }); });
  const bool has_limit = options.wait > Micros::zero();
  const LocalTime give_up_at = core->runtime().now() + options.wait;
  AcquireOptions once = for_acquire(options);
  once.wait = Micros::zero();
  for (std::uint32_t attempts = 1;; ++attempts) {
    auto trying = handle->async_acquire(once, stop, where);
    Result<Lease> lease = co_await std::move(trying);
    if (lease || !may_change(lease.error().code)) co_return lease;
    const auto due =
        core->runtime().now() + pause_after(options.retry, attempts, core->runtime().random());
    if (attempts >= options.retry.attempts || (has_limit && due >= give_up_at)) {
      co_return std::unexpected(in_vain(std::move(lease.error()), attempts));
    }
    co_await alarm->wait_until(due);
    if (stop.stop_requested()) {
      co_return fail(Errc::cancelled,
                     fmt::format("waiting for '{}' was cancelled", handle->name()->str()));
    }
  }
}

}  // namespace holdfast::client

namespace holdfast::detail {

Result<Lease> acquire_locked(const Client& client, const Result<std::string>& name,
                             const LockedOptions& options, std::stop_token stop,
                             const std::source_location& where) {
  if (!name) return std::unexpected(name.error());
  const auto& core = client.core();
  if (auto good = core->may_block(); !good) return std::unexpected(std::move(good.error()));
  // All of it before the first question: a bad pause must not wait for a busy lock to be noticed.
  if (auto good = client::check(options.retry); !good) {
    return std::unexpected(std::move(good.error()));
  }
  auto plain = client::for_acquire(options);
  if (auto good = client::check(plain); !good) return std::unexpected(std::move(good.error()));
  const auto handle = std::make_shared<client::LockHandle>(
      core, *name, model::LockSpec::mutex(Order::automatic), all_permits);
  if (options.retry.attempts == 0) return handle->acquire(plain, std::move(stop), where);
  return runtime::run_blocking(client::acquire_by_tries(handle, options, std::move(stop), where));
}

}  // namespace holdfast::detail
