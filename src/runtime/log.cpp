// SPDX-License-Identifier: Apache-2.0
#include "runtime/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <mutex>

namespace holdfast::runtime {

namespace {

std::shared_ptr<spdlog::logger> logger() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (auto registered = spdlog::get("holdfast")) return registered;
  return spdlog::stderr_logger_mt("holdfast");
}

}  // namespace

// Called from destructors, where failing to log must not become a failure of its own.
void log_warning(std::string_view message) noexcept try {
  logger()->warn("{}", message);
} catch (...) {
}

}  // namespace holdfast::runtime
