// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/lease.hpp>
#include <holdfast/task.hpp>

#include "client/acquire.hpp"
#include "client/renewal.hpp"

#include <list>
#include <mutex>
#include <source_location>
#include <thread>

namespace holdfast::client {

// A name, a kind and a client: what every public lock is made of.
class LockHandle {
 public:
  LockHandle(std::shared_ptr<Core> core, std::string_view name, model::LockSpec spec,
             std::uint32_t permits);

  // `value` is what the leader of an election publishes.
  Result<Lease> acquire(const AcquireOptions& options, std::stop_token stop,
                        const std::source_location& where, std::string_view value = {});
  Task<Result<Lease>> async_acquire(const AcquireOptions& options, std::stop_token stop,
                                    const std::source_location& where);

  // The standard's face: leases by the thread that took them, since unlock() names no other.
  void keep(Lease lease);
  bool give_back();  // false if this thread has none
  Lease* of_this_thread();

  Kind kind() const { return spec_.kind; }
  const Result<LockName>& name() const { return name_; }
  const std::shared_ptr<Core>& core() const { return core_; }

 private:
  struct Prepared {
    Wanted wanted;
    Terms terms;
  };
  // Everything that can be refused without asking the store.
  Result<Prepared> prepare(const AcquireOptions& options, const std::source_location& where,
                           std::string_view value) const;
  Result<std::uint32_t> permits_for(const AcquireOptions& options) const;

  static Task<Result<Lease>> run(std::shared_ptr<Core> core, Prepared prepared,
                                 std::stop_token stop);

  const std::shared_ptr<Core> core_;
  const Result<LockName> name_;
  const model::LockSpec spec_;
  const std::uint32_t permits_;
  const Result<void> supported_;

  std::mutex mutex_;
  // A list, because held() hands out where a lease stands. Guarded by mutex_.
  std::list<std::pair<std::thread::id, Lease>> taken_;
};

}  // namespace holdfast::client
