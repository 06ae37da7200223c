// SPDX-License-Identifier: Apache-2.0
//
// The kinds of lock. Each is a light handle on a name: making one talks to nobody, and a bad name
// or capacity is reported by the first call that uses it. Handles may be copied, and used from any
// thread.
//
// The standard's lock(), unlock() and friends work on every exclusive kind, so that
// std::unique_lock, std::scoped_lock and std::shared_lock do too; as with std::mutex, unlock from
// the thread that locked. They use the default options with renewal; `held()` gives the calling
// thread's lease. A try returns false only for busy and timed_out. Everything else is thrown, as a
// std::system_error whose code() is the Errc: a store that is away is not a lock that is held.
#pragma once

#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>
#include <holdfast/task.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <source_location>
#include <stop_token>
#include <string>

namespace holdfast {

namespace client {
class LockHandle;
}

// What every kind shares. Blocking calls block the calling thread only.
class Lockable {
 public:
  // Waits up to options.wait, also for a store that is away. Errors: busy (without a wait),
  // timed_out, cancelled, spec_mismatch, bad_input, unsupported, limit_reached; unavailable,
  // quorum_not_reached or outcome_unknown (cleaned up already, or by the end of the ttl) if the
  // store was away when the wait ended.
  Result<Lease> acquire(AcquireOptions options = {}, std::stop_token stop = {},
                        std::source_location where = std::source_location::current());
  // Never waits, whatever the options say.
  Result<Lease> try_acquire(AcquireOptions options = {},
                            std::source_location where = std::source_location::current());
  // The same as acquire, for coroutines; resumed on Holdfast's own thread, so do not block there
  // (holdfast/asio/awaitable.hpp returns to the caller's executor instead). Destroying the awaiting
  // coroutine cancels the wait and never leaks the lock.
  Task<Result<Lease>> async_acquire(AcquireOptions options = {}, std::stop_token stop = {},
                                    std::source_location where = std::source_location::current());

  void lock();
  bool try_lock();
  void unlock();
  template <typename Rep, typename Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
    return try_lock_within(std::chrono::ceil<Duration>(wait));
  }
  template <typename Clock, typename Span>
  bool try_lock_until(const std::chrono::time_point<Clock, Span>& deadline) {
    return try_lock_for(deadline - Clock::now());
  }
  // The lease the calling thread took with lock(); null if it has none.
  Lease* held();

 protected:
  explicit Lockable(std::shared_ptr<client::LockHandle> handle) : handle_(std::move(handle)) {}
  bool try_lock_within(Duration wait);
  std::shared_ptr<client::LockHandle> handle_;
};

// One holder. It is the write side of a read-write lock: both on one name exclude each other.
class Mutex : public Lockable {
 public:
  explicit Mutex(std::shared_ptr<client::LockHandle> handle) : Lockable(std::move(handle)) {}
};

// One owner, any number of times: an acquire with the same options.owner re-enters at once, with
// the same fence, and the lock is free when every one of its leases is released. lock() re-enters
// where the calling thread has locked through the same handle.
class Reentrant : public Lockable {
 public:
  explicit Reentrant(std::shared_ptr<client::LockHandle> handle) : Lockable(std::move(handle)) {}
};

// Many readers or one writer; each reader has a lease of its own, and a waiting writer stops new
// readers. acquire() and lock() take the write side.
class ReadWrite : public Lockable {
 public:
  ReadWrite(std::shared_ptr<client::LockHandle> write, std::shared_ptr<client::LockHandle> read)
      : Lockable(std::move(write)), read_(std::move(read)) {}

  Result<Lease> acquire_shared(AcquireOptions options = {}, std::stop_token stop = {},
                               std::source_location where = std::source_location::current());
  Task<Result<Lease>> async_acquire_shared(
      AcquireOptions options = {}, std::stop_token stop = {},
      std::source_location where = std::source_location::current());

  void lock_shared();
  bool try_lock_shared();
  void unlock_shared();
  template <typename Rep, typename Period>
  bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& wait) {
    return try_lock_shared_within(std::chrono::ceil<Duration>(wait));
  }
  template <typename Clock, typename Span>
  bool try_lock_shared_until(const std::chrono::time_point<Clock, Span>& deadline) {
    return try_lock_shared_for(deadline - Clock::now());
  }

 private:
  bool try_lock_shared_within(Duration wait);
  std::shared_ptr<client::LockHandle> read_;
};

// At most n permits at once; a lease takes options.permits of them, all together or none.
class Semaphore : public Lockable {
 public:
  explicit Semaphore(std::shared_ptr<client::LockHandle> handle) : Lockable(std::move(handle)) {}
};

// One leader, and a value of its that everybody can read, such as its address.
class Election {
 public:
  explicit Election(std::shared_ptr<client::LockHandle> handle) : handle_(std::move(handle)) {}

  // Waits up to options.wait to become leader. The value is at most max_metadata_bytes.
  Result<Lease> campaign(std::string_view value, AcquireOptions options = {},
                         std::stop_token stop = {},
                         std::source_location where = std::source_location::current());
  // The value of the current leader, or nothing while there is none.
  Result<std::optional<std::string>> leader();

 private:
  std::shared_ptr<client::LockHandle> handle_;
};

}  // namespace holdfast
