// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/task.hpp>

#include "runtime/runtime.hpp"

#include <memory>

namespace holdfast::runtime {

// One coroutine waits, anybody notifies. A notification that comes before the wait is kept, two of
// them are one.
class Event {
 public:
  explicit Event(std::shared_ptr<Runtime> runtime);
  ~Event();

  // From any thread. Resumes a waiting coroutine inside the call: hold no lock of yours.
  void notify();
  // True if notified, false at the deadline. A time_point::max() deadline needs no timer.
  Task<bool> wait_until(LocalTime deadline);

 private:
  struct Shared;
  struct Awaiter;
  std::shared_ptr<Shared> shared_;
};

}  // namespace holdfast::runtime
