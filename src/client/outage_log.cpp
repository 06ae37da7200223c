// SPDX-License-Identifier: Apache-2.0
#include "client/outage_log.hpp"

#include "runtime/log.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace holdfast::client {

void OutageLog::tell(const LockName& name, const Outage& outage, runtime::LocalTime now) {
  if (now - outage.since < outage_log_delay) return;
  {
    const std::lock_guard lock(mutex_);
    if (now < silent_until_) return;
    silent_until_ = now + outage_log_interval;
  }
  const auto away = std::chrono::floor<std::chrono::milliseconds>(now - outage.since);
  runtime::log_warning(fmt::format("waiting for '{}': the store has been away for {}: {}",
                                   name.str(), away, outage.error.message));
}

}  // namespace holdfast::client
