// SPDX-License-Identifier: Apache-2.0
//
// Whoever waits for a lock without a limit should be able to read somewhere that it is the store
// that is waited for.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/names.hpp>
#include <holdfast/view.hpp>

#include "runtime/clock.hpp"

#include <mutex>

namespace holdfast::client {

// A blip is not worth a line, and an outage not one a second.
inline constexpr Micros outage_log_delay = std::chrono::seconds(1);
inline constexpr Micros outage_log_interval = std::chrono::minutes(1);

// Since when a store fails, and how it did last.
struct Outage {
  Error error;
  runtime::LocalTime since{};
};

// One for all waits of a client.
class OutageLog {
 public:
  void tell(const LockName& name, const Outage& outage, runtime::LocalTime now);

 private:
  std::mutex mutex_;
  runtime::LocalTime silent_until_ = runtime::LocalTime::min();  // guarded by mutex_
};

}  // namespace holdfast::client
