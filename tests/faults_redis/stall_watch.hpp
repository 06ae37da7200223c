// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "faults_redis/shared_log.hpp"
#include "runtime/runtime.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

namespace holdfast::faults {

// Notices when this machine gives no processor to this process, or none to the thread on which the
// library tells losses. Nothing is told in time then: the log says that the processes were stopped,
// and tests that measure time take it off. Starts that thread: no process is forked after this.
class StallWatch {
 public:
  StallWatch(SharedLog& log, ProcessId first, ProcessId last);
  StallWatch(const StallWatch&) = delete;
  StallWatch& operator=(const StallWatch&) = delete;
  ~StallWatch();

  // All stalls so far, together.
  std::chrono::microseconds lost() const { return std::chrono::microseconds(lost_us_.load()); }

 private:
  void run(const std::stop_token& stop);
  void note(Time at, Time stall);
  // How long the library's thread was ready to run so far, and had to wait for a processor.
  Time waited_for_processor() const;

  SharedLog& log_;
  const ProcessId first_;
  const ProcessId last_;
  std::atomic<std::int64_t> lost_us_ = 0;
  const std::shared_ptr<runtime::Runtime> runtime_ = runtime::shared_runtime();
  int schedstat_ = -1;
  std::jthread thread_;
};

}  // namespace holdfast::faults
