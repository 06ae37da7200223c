// SPDX-License-Identifier: Apache-2.0
//
// Acquire and release inside a coroutine on Holdfast's own thread.
#pragma once

#include <holdfast/holdfast.hpp>

#include "client/held_lease.hpp"
#include "support/bars.hpp"

#include <atomic>
#include <cstdint>

namespace holdfast::bench {

// Lease has no release that a coroutine could await, and a blocking one is refused on Holdfast's
// own thread. This is the task that Lease::release() waits for, reached past the access check.
using HeldLeasePtr = std::shared_ptr<client::HeldLease>;
HeldLeasePtr Lease::* held_of(Lease*);
template <HeldLeasePtr Lease::* member>
struct Reach {
  friend HeldLeasePtr Lease::* held_of(Lease*) { return member; }
};
template struct Reach<&Lease::held_>;

inline Task<Result<Released>> async_release(Lease& lease) {
  return (lease.*held_of(&lease))->release();
}

// One pair; ends the program if it fails.
inline Task<bool> async_pair(Mutex mutex, AcquireOptions options) {
  auto asking = mutex.async_acquire(options);
  Result<Lease> lease = co_await std::move(asking);
  if (!lease) give_up(lease.error().message);
  auto releasing = async_release(*lease);
  const Result<Released> released = co_await std::move(releasing);
  if (!released || *released != Released::released) give_up("release failed");
  co_return true;
}

struct Counters {
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> pairs = 0;
};

// One pair after the other, until it is stopped.
inline Task<bool> run_slot(Mutex mutex, Counters* counters) {
  while (!counters->stop.load(std::memory_order_relaxed)) {
    auto pair = async_pair(mutex, AcquireOptions{});
    co_await std::move(pair);
    counters->pairs.fetch_add(1, std::memory_order_relaxed);
  }
  co_return true;
}

}  // namespace holdfast::bench
