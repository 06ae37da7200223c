// SPDX-License-Identifier: Apache-2.0
#include "client/acquire.hpp"
#include "runtime/backoff.hpp"
#include "runtime/event.hpp"
#include "runtime/log.hpp"
#include "runtime/spawn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

namespace holdfast::client {

namespace {

using store::Reply;

struct Withdrawal {
  std::shared_ptr<Core> core;
  LockName name;
  model::Release what;
  LocalTime until{};
};

Task<Result<Reply>> send_release(const Withdrawal& of) {
  model::LockCommand command{.spec = {}, .verb = of.what};
  return of.core->store().apply(
      {.name = of.name,
       .command = std::move(command),
       .deadline = std::min<LocalTime>(of.core->runtime().now() + command_timeout, of.until)});
}

// What the first attempt came to, for a caller that does not wait for the others.
class FirstAnswer {
 public:
  explicit FirstAnswer(std::shared_ptr<runtime::Runtime> runtime) : came_(std::move(runtime)) {}

  void set(const Result<Reply>& reply) {
    {
      const std::lock_guard lock(mutex_);
      if (is_there_) return;
      is_there_ = true;
      if (reply)
        answer_ = {};
      else
        answer_ = std::unexpected(reply.error());
    }
    came_.notify();
  }
  runtime::Event::Wait wait_until(LocalTime when) { return came_.wait_until(when); }
  Result<void> get() {
    const std::lock_guard lock(mutex_);
    return answer_;
  }

 private:
  runtime::Event came_;
  std::mutex mutex_;
  bool is_there_ = false;  // guarded by mutex_
  Result<void> answer_ = fail(Errc::outcome_unknown, "not answered yet");
};

// Until the store has heard it, or the lease has ended by itself.
Task<bool> keep_withdrawing(Withdrawal rest, Task<Result<Reply>> trying,
                            std::shared_ptr<FirstAnswer> first) {
  runtime::Event nobody(rest.core->shared_runtime());
  Result<Reply> reply = co_await std::move(trying);
  first->set(reply);
  for (unsigned failures = 0; !reply; ++failures) {
    const LocalTime now = rest.core->runtime().now();
    if (now >= rest.until) break;
    const Micros delay = runtime::next_delay(after_errors, failures, rest.core->runtime().random());
    co_await nobody.wait_until(std::min<LocalTime>(now + delay, rest.until));
    auto again = send_release(rest);
    reply = co_await std::move(again);
  }
  if (reply) co_return true;
  rest.core->unreleased.fetch_add(1, std::memory_order_relaxed);
  runtime::log_warning(fmt::format("could not give back '{}' on {}; it ended with its ttl",
                                   rest.name.str(), rest.core->store().describe()));
  co_return false;
}

}  // namespace

// The caller leaves after a moment, the question goes on: over a slow line it is asked once.
Task<Result<void>> withdraw(std::shared_ptr<Core> core, LockName name, model::Release what,
                            Micros ttl) {
  const LocalTime now = core->runtime().now();
  Withdrawal rest{core, std::move(name), std::move(what), now + ttl};
  auto trying = send_release(rest);
  // An embedded store answers at once.
  std::optional<Result<Reply>> answer;
  if (trying.is_ready()) answer = trying.take_ready();
  if (answer && *answer) co_return Result<void>{};
  const auto first = std::make_shared<FirstAnswer>(core->shared_runtime());
  auto going_on = answer ? Task<Result<Reply>>(std::move(*answer)) : std::move(trying);
  runtime::spawn(keep_withdrawing(std::move(rest), std::move(going_on), first));
  co_await first->wait_until(now + prompt_timeout);
  co_return first->get();
}

}  // namespace holdfast::client
