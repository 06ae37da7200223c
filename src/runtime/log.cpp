// SPDX-License-Identifier: Apache-2.0
#include "runtime/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <mutex>

namespace holdfast::runtime {

namespace {

std::atomic<WarningSink> other_sink = nullptr;

std::shared_ptr<spdlog::logger> logger() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (auto registered = spdlog::get("holdfast")) return registered;
  return spdlog::stderr_logger_mt("holdfast");
}

}  // namespace

// Called from destructors, where failing to log must not become a failure of its own.
void log_warning(std::string_view message) noexcept try {
  if (const auto sink = other_sink.load()) return sink(message);
  logger()->warn("{}", message);
} catch (...) {
}

void send_warnings_to(WarningSink sink) noexcept { other_sink = sink; }

}  // namespace holdfast::runtime
