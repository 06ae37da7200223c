// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/idempotency.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/locks.hpp>
#include <holdfast/options.hpp>
#include <holdfast/rate_limit.hpp>
#include <holdfast/view.hpp>

#include <functional>
#include <initializer_list>
#include <memory>
#include <source_location>
#include <span>
#include <stop_token>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace holdfast {

namespace client {
class Core;
}
class Tracer;          // holdfast/tracing.hpp
struct ClientMetrics;  // holdfast/metrics.hpp

// What release_all did. A lease that had ended by itself is in neither number.
struct ReleasedAll {
  std::size_t released = 0;
  std::size_t failed = 0;  // the store did not take it back: it ends with its ttl
};

// A connection to a store. Cheap to copy (copies share the connection), usable from any thread.
// Leases keep what they need of it alive. After fork() the child must open its own: a client that
// was opened before answers `unavailable` there, and its leases are left to the parent.
class Client {
 public:
  explicit Client(std::shared_ptr<client::Core> core) noexcept : core_(std::move(core)) {}

  Mutex mutex(std::string_view name, Order order = Order::automatic) const;
  Reentrant reentrant(std::string_view name, Order order = Order::automatic) const;
  ReadWrite read_write(std::string_view name, Order order = Order::automatic) const;
  // Everybody who uses the name must say the same number of permits.
  Semaphore semaphore(std::string_view name, std::uint32_t permits,
                      Order order = Order::automatic) const;
  Election election(std::string_view name) const;
  // How often something may happen: the scope is what is limited, such as "user-42".
  RateLimit rate_limit(std::string_view scope, const RateRule& rule) const;

  // Mutexes on all the names, or on none of them. They are taken in sorted order, so that two
  // callers never wait for each other; options.wait covers them together. Errors as acquire, and
  // lost if one of them ended while the others were waited for.
  Result<std::vector<Lease>> acquire_all(
      std::span<const std::string_view> names, AcquireOptions options = {},
      std::stop_token stop = {},
      std::source_location where = std::source_location::current()) const;

  Result<std::vector<Lease>> acquire_all(
      std::initializer_list<std::string_view> names, AcquireOptions options = {},
      std::stop_token stop = {},
      std::source_location where = std::source_location::current()) const {
    return acquire_all(std::span(names.begin(), names.size()), options, std::move(stop), where);
  }

  // Runs `work(lease)` under a mutex and releases it afterwards, also when `work` throws. Nothing
  // runs without the lock; long work watches lease.lost(). The result is Result<R> for a work that
  // returns R, Result<void> for void, and R itself where R is already a Result.
  template <typename Work>
  auto with_lock(std::string_view name, AcquireOptions options, Work&& work,
                 std::stop_token stop = {},
                 std::source_location where = std::source_location::current()) const;

  // Runs `work(run)` unless it has run before under this key, on any machine. The work returns an
  // Answer, its body as text, nothing, or a Result of one of these. What it returns is kept and
  // replayed; an error or an exception is a failure, and outcome_unknown means that it may have
  // happened. Errors: those of the work; lost (somebody took over meanwhile: the answer of this run
  // was not kept); bad_input, unsupported, unavailable, outcome_unknown, cancelled. Before the work
  // began they mean that it did not run.
  template <typename Work>
  Result<Once> idempotent(std::string_view key, IdempotencyOptions options, Work&& work,
                          std::stop_token stop = {}) const {
    auto begun = begin_run(key, options, std::move(stop));
    if (!begun) return std::unexpected(std::move(begun.error()));
    return detail::run_once(std::move(*begun), std::forward<Work>(work));
  }
  // The same by hand.
  Result<Begun> begin_run(std::string_view key, IdempotencyOptions options = {},
                          std::stop_token stop = {}) const;
  // What is known of a key, without beginning anything; nothing if nothing is.
  Result<std::optional<Once>> look_at_run(std::string_view key) const;
  // Forgets it, so that it may happen again. Whoever runs it now learns that it lost its run. False
  // if there was nothing.
  Result<bool> forget_run(std::string_view key) const;

  // Takes over a lease whose owner is known, in order to release or extend it from another process
  // than the one that acquired it. Covers everything that owner holds of the name, or, with a
  // fence, what it holds up to that one. Not renewed. A release, also a late copy of it, ends only
  // what was there when it was adopted: whatever the owner was granted since has a newer fence. An
  // extension covers what the owner holds by then, as a new adoption would: fence() and release
  // follow it, but never beyond a fence that was given. Errors: not_held (also where all that the
  // owner holds is newer than `fence`), not_owner, bad_input, unavailable.
  Result<Lease> adopt(std::string_view name, std::string_view owner, Fence fence = 0) const;

  // Takes the lock away from whoever holds it, raises the fence, and serves the next in line. The
  // holders learn at their next renewal at the latest: a fenced resource refuses them before that.
  // Returns how many leases ended. The reason is for the log. Errors: not_held, bad_input,
  // unavailable.
  Result<std::uint32_t> force_release(std::string_view name, std::string_view reason) const;

  // For an orderly shutdown: gives back every lease that this client and its copies hold, all at
  // once, and goes on where one fails. Holders learn by lease.lost() before anybody else is granted
  // their lock. Whoever waits goes on waiting, and later acquires work as ever. Errors: unavailable
  // after fork(), unsupported inside a Holdfast callback.
  Result<ReleasedAll> release_all() const;

  // Tells the tracer of every acquire, hold, run and check of this client and its copies that
  // begins from now on; null tells nobody. Costs next to nothing while there is none.
  void trace(std::shared_ptr<Tracer> tracer) const;
  // What this client and its copies have done so far.
  ClientMetrics metrics() const;

  // The lock as the store sees it. A lock that nobody holds or waits for has no holders or waiters.
  Result<LockView> inspect(std::string_view name) const;
  // Locks that somebody holds or waits for, in the order of the store, page by page.
  Result<LockPage> list(ListOptions options = {}) const;
  // What happened to a lock, the newest first. Errors: unsupported where the store keeps no trail.
  Result<std::vector<LockEvent>> history(std::string_view name, std::uint32_t limit = 100) const;
  // What an operator should know about the store's set-up, one sentence each; empty if all is well.
  // Errors: unavailable or quorum_not_reached if the store cannot be used at all.
  Result<std::vector<std::string>> diagnose() const;
  // How far the store's wall clock is ahead of this machine's, to about half a round trip; negative
  // if it is behind, zero where both are the same clock. For operators: no lease depends on it.
  Result<Duration> clock_offset() const;

  // For what Holdfast builds on top of locks, such as holdfast/n8n.hpp.
  const std::shared_ptr<client::Core>& core() const noexcept { return core_; }

 private:
  std::shared_ptr<client::Core> core_;
};

// Opens a store by URL: "memory:" and "memory:NAME" (shared by every client of this process that
// opens the same URL), "file:" (this machine, the user's own default path),
// "file:/some/folder?durable=yes", "redis://[USER:PASSWORD@]HOST[:PORT][/DB]" and "rediss://…"
// (Redis or Valkey; docs/stores/redis.md has the options, such as password_file=PATH),
// "redlock://HOST,HOST,HOST" (a majority of servers; docs/stores/redlock.md), "http://…" and
// "https://…" (a Holdfast server). Errors: bad_input, unsupported, unavailable, quorum_not_reached.
Result<Client> open(std::string_view url);

// The schemes that open() knows, without the colon: "memory", "file", …
std::vector<std::string_view> store_schemes();

template <typename Work>
auto Client::with_lock(std::string_view name, AcquireOptions options, Work&& work,
                       std::stop_token stop, std::source_location where) const {
  using R = std::invoke_result_t<Work, const Lease&>;
  if constexpr (requires(R r) {
                  r.has_value();
                  requires std::is_same_v<typename R::error_type, Error>;
                }) {
    auto lease = mutex(name).acquire(options, std::move(stop), where);
    if (!lease) return R(std::unexpected(std::move(lease.error())));
    return R(std::invoke(std::forward<Work>(work), std::as_const(*lease)));
  } else if constexpr (std::is_void_v<R>) {
    auto lease = mutex(name).acquire(options, std::move(stop), where);
    if (!lease) return Result<void>(std::unexpected(std::move(lease.error())));
    std::invoke(std::forward<Work>(work), std::as_const(*lease));
    return Result<void>();
  } else {
    auto lease = mutex(name).acquire(options, std::move(stop), where);
    if (!lease) return Result<R>(std::unexpected(std::move(lease.error())));
    return Result<R>(std::invoke(std::forward<Work>(work), std::as_const(*lease)));
  }
}

}  // namespace holdfast
