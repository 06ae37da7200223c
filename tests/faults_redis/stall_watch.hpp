// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "faults_redis/shared_log.hpp"

#include <atomic>
#include <chrono>
#include <thread>

namespace holdfast::faults {

// Notices when this machine gives us no processor. Nobody can tell anything in time then: the log
// says that the processes were stopped, and tests that measure time take it off.
class StallWatch {
 public:
  StallWatch(SharedLog& log, ProcessId first, ProcessId last);
  StallWatch(const StallWatch&) = delete;
  StallWatch& operator=(const StallWatch&) = delete;
  ~StallWatch() = default;

  // All stalls so far, together.
  std::chrono::microseconds lost() const { return std::chrono::microseconds(lost_us_.load()); }

 private:
  void run(const std::stop_token& stop);

  SharedLog& log_;
  const ProcessId first_;
  const ProcessId last_;
  std::atomic<std::int64_t> lost_us_ = 0;
  std::jthread thread_;
};

}  // namespace holdfast::faults
