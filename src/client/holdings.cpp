// SPDX-License-Identifier: Apache-2.0
#include "client/holdings.hpp"

#include "client/held_lease.hpp"

#include <bit>

namespace holdfast::client {

Holdings::Holdings() {
  for (auto& shard : shards_) shard.ring.before = shard.ring.after = &shard.ring;
}

Holdings::Shard& Holdings::shard_of(const HeldLease& lease) {
  // Leases are some hundred bytes long: the bits below say little.
  return shards_[(std::bit_cast<std::uintptr_t>(&lease) >> 9) % shards_.size()];
}

void Holdings::join(HeldLease& lease, std::optional<Duration> waited) {
  Shard& shard = shard_of(lease);
  HeldPlace& place = lease;
  const std::lock_guard lock(shard.mutex);
  place.before = shard.ring.before;
  place.after = &shard.ring;
  place.before->after = place.after->before = &place;
  ++shard.held;
  if (waited) shard.wait.add(*waited);
}

void Holdings::leave(HeldLease& lease, Duration held_for) {
  Shard& shard = shard_of(lease);
  HeldPlace& place = lease;
  const std::lock_guard lock(shard.mutex);
  place.before->after = place.after;
  place.after->before = place.before;
  --shard.held;
  shard.hold.add(held_for);
}

std::vector<std::shared_ptr<HeldLease>> Holdings::all() const {
  std::vector<std::shared_ptr<HeldLease>> leases;
  for (const auto& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    for (auto* place = shard.ring.after; place != &shard.ring; place = place->after) {
      // Empty if its destructor waits for the mutex, to leave.
      if (auto lease = static_cast<HeldLease*>(place)->weak_from_this().lock()) {
        leases.push_back(std::move(lease));
      }
    }
  }
  return leases;
}

void Holdings::count(ClientMetrics& metrics) const {
  for (const auto& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    metrics.held += shard.held;
    metrics.wait.add(shard.wait);
    metrics.hold.add(shard.hold);
  }
  metrics.granted = metrics.wait.count;
}

}  // namespace holdfast::client
