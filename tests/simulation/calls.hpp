// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simulation/process.hpp"
#include "store/store.hpp"

#include <coroutine>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace holdfast::simulation {

using CallId = std::uint32_t;

// The commands of one line that wait for their replies.
class Calls {
 public:
  // `on_silence` is called when a command was not answered until its deadline; it ends the call.
  Calls(Process& process, std::function<void(CallId)> on_silence)
      : process_(process), on_silence_(std::move(on_silence)) {}

  // Lives in the frame of the coroutine that waits for it.
  class Call {
   public:
    Call(Calls& calls, runtime::LocalTime deadline) : calls_(calls), id_(++calls.last_) {
      calls_.waiting_.push_back(this);
      timer_ = calls_.process_.schedule(deadline, [&calls, id = id_] { calls.on_silence_(id); });
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call() {
      std::erase(calls_.waiting_, this);
      calls_.process_.cancel(timer_);
    }

    CallId id() const { return id_; }
    bool is_ended() const { return reply_.has_value(); }

    bool await_ready() const noexcept { return reply_.has_value(); }
    void await_suspend(std::coroutine_handle<> waiter) noexcept { waiter_ = waiter; }
    Result<store::Reply> await_resume() { return std::move(*reply_); }

   private:
    friend class Calls;
    void end(Result<store::Reply> reply) {
      if (reply_) return;
      reply_.emplace(std::move(reply));
      if (waiter_) std::exchange(waiter_, {}).resume();
    }

    Calls& calls_;
    const CallId id_;
    runtime::TimerId timer_{};
    std::optional<Result<store::Reply>> reply_;
    std::coroutine_handle<> waiter_;
  };

  bool waits_for(CallId call) const {
    const Call* found = find(call);
    return found && !found->is_ended();
  }
  // A late or second reply finds nobody.
  void end(CallId call, Result<store::Reply> reply) {
    if (Call* found = find(call)) found->end(std::move(reply));
  }
  void end_unknown(CallId call, const char* why) { end(call, fail(Errc::outcome_unknown, why)); }
  // Ending one call may start another, which is not ended.
  void end_all_unknown(const char* why) {
    std::vector<CallId> in_flight;
    for (const Call* call : waiting_) in_flight.push_back(call->id());
    for (const CallId call : in_flight) end_unknown(call, why);
  }

 private:
  Call* find(CallId call) const {
    for (Call* each : waiting_) {
      if (each->id() == call) return each;
    }
    return nullptr;
  }

  Process& process_;
  const std::function<void(CallId)> on_silence_;
  CallId last_ = 0;
  std::vector<Call*> waiting_;
};

}  // namespace holdfast::simulation
