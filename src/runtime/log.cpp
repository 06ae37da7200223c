// SPDX-License-Identifier: Apache-2.0
#include "runtime/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>
#include <utility>

namespace holdfast::runtime {

namespace {

std::atomic<WarningSink> other_sink = nullptr;

// Kept for ever once it was found: a lease that is given back while the program ends may have
// something to say after spdlog has taken its registry down.
const std::shared_ptr<spdlog::logger>& logger() {
  static const auto* const found = [] {
    auto registered = spdlog::get("holdfast");
    if (!registered) registered = spdlog::stderr_logger_mt("holdfast");
    return new std::shared_ptr<spdlog::logger>(std::move(registered));
  }();
  return *found;
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
