// SPDX-License-Identifier: Apache-2.0
//
// Waits for several stores to connect, but not for the last of them.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/view.hpp>

#include "runtime/event.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace holdfast {

class Gathering {
 public:
  Gathering(std::shared_ptr<runtime::Runtime> runtime, std::size_t size)
      : runtime(std::move(runtime)), changed(this->runtime), answers_(size) {}

  void put(std::size_t at, Result<void> ready) {
    {
      const std::lock_guard lock(mutex_);
      answers_[at] = std::move(ready);
    }
    changed.notify();
  }

  struct Count {
    std::size_t ready = 0;
    std::size_t failed = 0;
    std::size_t all = 0;
  };
  Count count() const {
    const std::lock_guard lock(mutex_);
    Count count{.all = answers_.size()};
    for (const auto& answer : answers_) {
      if (answer) ++(answer->has_value() ? count.ready : count.failed);
    }
    return count;
  }

  // Why each of them is not there; nothing for those that are.
  std::vector<std::optional<std::string>> missing() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::optional<std::string>> reasons;
    for (const auto& answer : answers_) {
      if (!answer) {
        reasons.emplace_back("no answer yet");
      } else {
        reasons.push_back(answer->has_value() ? std::nullopt
                                              : std::optional(answer->error().message));
      }
    }
    return reasons;
  }

  const std::shared_ptr<runtime::Runtime> runtime;
  runtime::Event changed;

 private:
  mutable std::mutex mutex_;
  std::vector<std::optional<Result<void>>> answers_;  // guarded by mutex_
};

// Until all have answered, or most of them are there and the others had a moment more.
inline Task<std::vector<std::optional<std::string>>> wait_for_most(
    std::shared_ptr<Gathering> gathering, Micros patience) {
  constexpr Micros a_moment = std::chrono::milliseconds(100);
  auto until = gathering->runtime->now() + patience;
  bool has_most = false;
  for (;;) {
    const auto count = gathering->count();
    if (count.ready + count.failed == count.all || gathering->runtime->now() >= until) break;
    if (!has_most && count.ready > count.all / 2) {
      has_most = true;
      until = std::min<runtime::LocalTime>(until, gathering->runtime->now() + a_moment);
    }
    co_await gathering->changed.wait_until(until);
  }
  co_return gathering->missing();
}

}  // namespace holdfast
