// SPDX-License-Identifier: Apache-2.0
#include "faults_redis/stall_watch.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <string>

namespace holdfast::faults {

namespace {

constexpr Time noticeable = 8 * millisecond;
// A machine that gives a process no processor for so long has none for the store either.
constexpr Time of_the_whole_machine = 40 * millisecond;
// Whoever had to stand still has to catch up first.
constexpr Time most_to_catch_up = 300 * millisecond;

int open_schedstat(runtime::Runtime& runtime) {
  std::promise<pid_t> thread;
  runtime.post([&] { thread.set_value(gettid()); });
  const auto path = "/proc/self/task/" + std::to_string(thread.get_future().get()) + "/schedstat";
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
}

}  // namespace

StallWatch::StallWatch(SharedLog& log, ProcessId first, ProcessId last)
    : log_(log), first_(first), last_(last), schedstat_(open_schedstat(*runtime_)) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

StallWatch::~StallWatch() {
  thread_ = {};
  if (schedstat_ >= 0) close(schedstat_);
}

void StallWatch::run(const std::stop_token& stop) {
  Time before = log_.now();
  Time waited = waited_for_processor();
  while (!stop.stop_requested()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const Time now = log_.now();
    note(now, now - before);
    before = now;
    // Known only when the thread runs again: it waited just before this.
    const Time total = waited_for_processor();
    note(now, total - waited);
    waited = total;
  }
}

void StallWatch::note(Time at, Time stall) {
  if (stall <= noticeable) return;
  lost_us_ += 2 * stall / 1000;
  const Time until = at + std::min(stall, most_to_catch_up);
  for (ProcessId id = first_; id <= last_; ++id) {
    log_.fault(What::stopped, id, at - stall, until);
  }
  if (stall > of_the_whole_machine) log_.fault(What::stopped, 0, at - stall, until);
}

// "<time on a processor> <time in the run queue> <time slices>", in ns.
Time StallWatch::waited_for_processor() const {
  char text[96] = {};
  if (schedstat_ < 0 || pread(schedstat_, text, sizeof text - 1, 0) <= 0) return 0;
  char* second = nullptr;
  std::strtoll(text, &second, 10);
  return std::strtoll(second, nullptr, 10);
}

}  // namespace holdfast::faults
