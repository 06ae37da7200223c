// SPDX-License-Identifier: Apache-2.0
#include "client/lock_handle.hpp"

#include "client/explain.hpp"
#include "client/held_lease.hpp"
#include "client/options_check.hpp"
#include "client/pending.hpp"
#include "runtime/spawn.hpp"
#include "text/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::client {

namespace {

Span trace_acquire(Core& core, const Wanted& wanted) {
  if (!core.is_traced()) return {};
  const auto ms = [](Micros time) -> std::int64_t {
    return std::chrono::floor<std::chrono::milliseconds>(time).count();
  };
  return core.span("lock.acquire", {{"lock.name", wanted.name.str()},
                                    {"lock.kind", text::to_word(wanted.spec.kind)},
                                    {"lock.ttl_ms", ms(wanted.ttl)},
                                    {"lock.wait_ms", ms(wanted.wait)}});
}

void tell_outcome(Span& span, const Result<Won>& won) {
  if (won) {
    span.end({{"lock.acquired", true}, {"lock.fence", traced(won->fence)}});
  } else {
    span.end({{"lock.acquired", false}, {"lock.error", to_string(won.error().code)}});
  }
}

}  // namespace

LockHandle::LockHandle(std::shared_ptr<Core> core, std::string_view name, model::LockSpec spec,
                       std::uint32_t permits)
    : core_(std::move(core)),
      name_(LockName::make(name)),
      spec_(spec),
      permits_(permits),
      supported_(core_->store().supports(spec)) {}

Result<std::uint32_t> LockHandle::permits_for(const AcquireOptions& options) const {
  if (spec_.kind != Kind::semaphore) {
    if (options.permits == 1) return permits_;
    return fail(Errc::bad_input, "permits: only a semaphore has more than one");
  }
  if (spec_.capacity == 0 || spec_.capacity == all_permits) {
    return fail(Errc::bad_input, "capacity: a semaphore has between 1 and 4294967294 permits");
  }
  if (options.permits >= 1 && options.permits <= spec_.capacity) return options.permits;
  return fail(Errc::bad_input, fmt::format("permits: must be between 1 and the {} of the semaphore",
                                           spec_.capacity));
}

Result<LockHandle::Prepared> LockHandle::prepare(const AcquireOptions& options,
                                                 const std::source_location& where,
                                                 std::string_view value) const {
  if (!name_) return std::unexpected(name_.error());
  if (!supported_) return std::unexpected(supported_.error());
  if (auto good = check(options); !good) return std::unexpected(std::move(good.error()));
  auto permits = permits_for(options);
  if (!permits) return std::unexpected(std::move(permits.error()));
  auto owner = options.owner.empty() ? core_->fresh_owner() : OwnerId::make(options.owner);
  if (!owner) return std::unexpected(std::move(owner.error()));
  return Prepared{.wanted = {.name = *name_,
                             .spec = spec_,
                             .owner = std::move(*owner),
                             .request = core_->fresh_request(),
                             .converts = {},
                             .permits = *permits,
                             .ttl = options.ttl,
                             .wait = options.wait,
                             .retry = options.retry,
                             .metadata = core_->metadata(options.note, value, where)},
                  .terms = {.ttl = options.ttl,
                            .renew = options.renew,
                            .renew_every = options.renew_every,
                            .max_hold = options.max_hold}};
}

Task<Result<Lease>> LockHandle::run(std::shared_ptr<Core> core, Prepared prepared,
                                    std::stop_token stop) {
  HeldLease::Identity identity{.name = prepared.wanted.name,
                               .spec = prepared.wanted.spec,
                               .owner = prepared.wanted.owner,
                               .request = prepared.wanted.request,
                               .permits = prepared.wanted.permits,
                               .metadata = prepared.wanted.metadata};
  const Terms terms = prepared.terms;
  const auto began = core->runtime().now();
  Span span = trace_acquire(*core, prepared.wanted);
  auto asking = client::acquire(core, std::move(prepared.wanted), std::move(stop));
  Result<Won> won = co_await std::move(asking);
  tell_outcome(span, won);
  if (!won) {
    core->counters().not_granted(won.error().code);
    co_return std::unexpected(std::move(won.error()));
  }
  identity.request = won->request;
  co_return Lease(HeldLease::start(std::move(core), std::move(identity), terms, *won, began));
}

Result<Lease> LockHandle::acquire(const AcquireOptions& options, std::stop_token stop,
                                  const std::source_location& where, std::string_view value) {
  if (auto good = core_->may_block(); !good) return std::unexpected(std::move(good.error()));
  auto prepared = prepare(options, where, value);
  if (!prepared) return std::unexpected(std::move(prepared.error()));
  return runtime::run_blocking(run(core_, std::move(*prepared), std::move(stop)));
}

Task<Result<Lease>> LockHandle::async_acquire(const AcquireOptions& options, std::stop_token stop,
                                              const std::source_location& where) {
  if (!core_->is_ours()) {
    return Task<Result<Lease>>(std::unexpected(core_->may_block().error()));
  }
  auto prepared = prepare(options, where, {});
  if (!prepared) return Task<Result<Lease>>(std::unexpected(std::move(prepared.error())));
  return start_when_awaited<Result<Lease>>(
      core_->shared_runtime(),
      [core = core_, prepared = std::move(*prepared)](std::stop_token token) mutable {
        return run(std::move(core), std::move(prepared), std::move(token));
      },
      std::move(stop));
}

void LockHandle::keep(Lease lease) {
  const std::lock_guard lock(mutex_);
  taken_.emplace_back(std::this_thread::get_id(), std::move(lease));
}

bool LockHandle::give_back() {
  std::unique_lock lock(mutex_);
  // The newest first: a reader that locked twice unlocks in the reverse order.
  const auto mine = std::find_if(taken_.rbegin(), taken_.rend(), [](const auto& taken) {
    return taken.first == std::this_thread::get_id();
  });
  if (mine == taken_.rend()) return false;
  Lease lease = std::move(mine->second);
  taken_.erase(std::next(mine).base());
  lock.unlock();
  (void)lease.release();
  return true;
}

Lease* LockHandle::of_this_thread() {
  const std::lock_guard lock(mutex_);
  for (auto& [thread, lease] : taken_) {
    if (thread == std::this_thread::get_id()) return &lease;
  }
  return nullptr;
}

}  // namespace holdfast::client
