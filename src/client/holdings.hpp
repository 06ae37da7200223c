// SPDX-License-Identifier: Apache-2.0
//
// The leases that a client holds now, and how long they were waited for and held.
#pragma once

#include <holdfast/metrics.hpp>

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace holdfast::client {

class HeldLease;

// Where a lease stands among those of its client. It needs no allocation, so that nothing is left
// of a lease that is gone.
struct HeldPlace {
  HeldPlace* before = nullptr;
  HeldPlace* after = nullptr;
};

class Holdings {
 public:
  Holdings();
  Holdings(const Holdings&) = delete;
  Holdings& operator=(const Holdings&) = delete;

  // `waited` of a lease that was acquired; one that was adopted was not waited for.
  void join(HeldLease& lease, std::optional<Duration> waited);
  // Exactly once after each join, at the latest when the lease is destroyed.
  void leave(HeldLease& lease, Duration held_for);

  std::vector<std::shared_ptr<HeldLease>> all() const;
  // Sets what is known here: granted, wait, held, hold.
  void count(ClientMetrics& metrics) const;

 private:
  // By the address of the lease: a thread that locks and unlocks meets itself there, and rarely
  // another.
  struct alignas(64) Shard {
    mutable std::mutex mutex;
    // All below is guarded by mutex.
    HeldPlace ring;  // before the first and after the last
    std::uint64_t held = 0;
    Timing wait;
    Timing hold;
  };
  Shard& shard_of(const HeldLease& lease);

  std::array<Shard, 16> shards_;
};

}  // namespace holdfast::client
