// SPDX-License-Identifier: Apache-2.0
#include "support/timing.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string>

namespace holdfast::test {
namespace {

constexpr double max_factor = 1000;

// Twice the runnable threads per processor: the scheduler does not share fairly within a second.
double factor_by_load() {
  std::ifstream file("/proc/loadavg");
  double last_minute = 0;
  double ignored = 0;
  std::string running;  // "3/412": runnable now, and all threads
  if (!(file >> last_minute >> ignored >> ignored >> running)) return 1;
  const double now = std::strtod(running.c_str(), nullptr);
  const unsigned processors = std::max(1U, std::thread::hardware_concurrency());
  const double per_processor = std::max(last_minute, now) / processors;
  return per_processor <= 1 ? 1 : 2 * per_processor;
}

}  // namespace

double time_factor() {
  if (const char* text = std::getenv("HOLDFAST_TIME_FACTOR"); text != nullptr && *text != '\0') {
    return std::clamp(std::strtod(text, nullptr), 1.0, max_factor);
  }
  static std::atomic<double> largest{1};
  const double now = std::min(factor_by_load(), max_factor);
  double before = largest.load();
  while (before < now && !largest.compare_exchange_weak(before, now)) {
  }
  return std::max(before, now);
}

}  // namespace holdfast::test
