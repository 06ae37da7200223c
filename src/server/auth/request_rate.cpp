// SPDX-License-Identifier: Apache-2.0
#include "server/auth/request_rate.hpp"

#include "server/auth/token_file.hpp"

#include <algorithm>
#include <limits>
#include <mutex>

namespace holdfast::server {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t burst_ns = 2 * second_ns;

// Names come from token files alone. Files that are replaced again and again could still fill the
// memory; an emptied map costs no more than one burst each.
constexpr std::size_t max_buckets = 2 * max_tokens;

}  // namespace

RequestRate::RequestRate(std::uint32_t requests_per_s)
    : interval_ns_(requests_per_s == 0 ? 0
                                       : second_ns / std::min(requests_per_s, max_requests_per_s)),
      full_at_ns_(std::numeric_limits<std::int64_t>::min()) {}

RequestRate::Wait RequestRate::take(runtime::LocalTime now) {
  if (interval_ns_ == 0) return Wait::zero();
  const std::int64_t now_ns = now.time_since_epoch().count();
  auto full_at = full_at_ns_.load(std::memory_order_relaxed);
  // Nothing else is published by this number, so its own order is enough.
  while (true) {
    const auto next = std::max(full_at, now_ns) + interval_ns_;
    if (next - now_ns > burst_ns) return Wait(next - now_ns - burst_ns);
    if (full_at_ns_.compare_exchange_weak(full_at, next, std::memory_order_relaxed)) {
      return Wait::zero();
    }
  }
}

RequestRate::Wait RequestRates::take(const Principal& principal, runtime::LocalTime now) {
  if (requests_per_s_ == 0) return RequestRate::Wait::zero();
  return bucket_of(principal.name)->take(now);
}

std::shared_ptr<RequestRate> RequestRates::bucket_of(const std::string& name) {
  {
    const std::shared_lock lock(mutex_);
    const auto found = buckets_.find(name);
    if (found != buckets_.end()) return found->second;
  }
  const std::unique_lock lock(mutex_);
  if (buckets_.size() >= max_buckets) buckets_.clear();
  auto& bucket = buckets_[name];
  if (!bucket) bucket = std::make_shared<RequestRate>(requests_per_s_);
  return bucket;
}

}  // namespace holdfast::server
