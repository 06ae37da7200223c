// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/runtime.hpp"

#include <coroutine>
#include <memory>

namespace holdfast::runtime {

// One coroutine waits, anybody notifies. A notification that comes before the wait is kept, two of
// them are one.
class Event {
  struct Shared;

 public:
  // Awaiting it gives true if notified, false at the deadline.
  class Wait {
   public:
    Wait(Shared& shared, LocalTime deadline) : shared_(shared), deadline_(deadline) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> waiter);
    bool await_resume();

   private:
    Shared& shared_;
    LocalTime deadline_;
  };

  explicit Event(std::shared_ptr<Runtime> runtime);
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event();

  // From any thread. Resumes a waiting coroutine inside the call: hold no lock of yours.
  void notify();
  // LocalTime::max() waits without a timer.
  Wait wait_until(LocalTime deadline) { return Wait(*shared_, deadline); }

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace holdfast::runtime
