// SPDX-License-Identifier: Apache-2.0
//
// How often one principal may ask: a token bucket that holds two seconds' worth of requests.
#pragma once

#include "runtime/clock.hpp"
#include "server/auth/principal.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>

namespace holdfast::server {

// The range of limits.token_requests_per_s; 0 means no limit.
inline constexpr std::uint32_t max_requests_per_s = 1'000'000;

// A bucket is a single number, the time when it will be full again (GCRA). Any thread may call.
class RequestRate {
 public:
  using Wait = std::chrono::nanoseconds;

  explicit RequestRate(std::uint32_t requests_per_s);

  // Zero: go ahead. Otherwise nothing was taken, and this is how long to wait before asking again.
  Wait take(runtime::LocalTime now);

 private:
  const std::int64_t interval_ns_;  // 0: no limit
  std::atomic<std::int64_t> full_at_ns_;
};

// A bucket for each principal, by name: a reload of the token file does not fill it. Any thread may
// call.
class RequestRates {
 public:
  explicit RequestRates(std::uint32_t requests_per_s) : requests_per_s_(requests_per_s) {}

  RequestRate::Wait take(const Principal& principal, runtime::LocalTime now);

 private:
  std::shared_ptr<RequestRate> bucket_of(const std::string& name);

  const std::uint32_t requests_per_s_;
  std::shared_mutex mutex_;
  std::map<std::string, std::shared_ptr<RequestRate>, std::less<>> buckets_;  // by mutex_
};

}  // namespace holdfast::server
