// SPDX-License-Identifier: Apache-2.0
#include "backends/quorum/give_backs.hpp"

#include "runtime/backoff.hpp"
#include "runtime/event.hpp"
#include "runtime/log.hpp"
#include "runtime/spawn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace holdfast::backends::quorum {

namespace {

constexpr runtime::Backoff between_give_backs{.first = 10ms, .cap = 1s};

}  // namespace

GiveBacks::GiveBacks(std::shared_ptr<store::Store> store, std::shared_ptr<runtime::Runtime> runtime,
                     Micros timeout)
    : store_(std::move(store)), runtime_(std::move(runtime)), timeout_(timeout) {}

// At once, even if others wait: it may follow the very command that it takes back, on the same
// connection. Only a member that is known not to answer is spared.
void GiveBacks::add(Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (is_being_told_ && put_off_.size() < max_pending_give_backs) {
      put_off_.push_back(std::move(job));
      return;
    }
  }
  runtime::spawn(tell(shared_from_this(), std::move(job)));
}

Task<bool> GiveBacks::tell(std::shared_ptr<GiveBacks> self, Job job) {
  model::LockCommand command{.spec = {}, .verb = job.what};
  const LocalTime deadline = std::min<LocalTime>(self->runtime_->now() + self->timeout_, job.until);
  auto asking =
      self->store_->apply({.name = job.name, .command = std::move(command), .deadline = deadline});
  const Result<store::Reply> reply = co_await std::move(asking);
  const bool is_heard = reply.has_value();
  if (!is_heard) self->put_off(std::move(job));
  co_return is_heard;
}

void GiveBacks::put_off(Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (put_off_.size() >= max_pending_give_backs) {
      if (!std::exchange(said_so_, true)) {
        runtime::log_warning(
            fmt::format("redlock: {} does not answer, and more than {} releases wait for it: the "
                        "others end with their ttl (max_pending_give_backs)",
                        store_->describe(), max_pending_give_backs));
      }
      return;
    }
    put_off_.push_back(std::move(job));
    if (std::exchange(is_being_told_, true)) return;
  }
  runtime::spawn(keep_telling(shared_from_this()));
}

// The oldest of those that still matter.
std::optional<GiveBacks::Job> GiveBacks::front() {
  const std::lock_guard lock(mutex_);
  const LocalTime now = runtime_->now();
  std::erase_if(put_off_, [now](const Job& job) { return job.until <= now; });
  if (put_off_.empty()) {
    is_being_told_ = false;
    return std::nullopt;
  }
  Job job = std::move(put_off_.front());
  put_off_.pop_front();
  return job;
}

void GiveBacks::tell_all() {
  std::deque<Job> jobs;
  {
    const std::lock_guard lock(mutex_);
    jobs.swap(put_off_);
    is_being_told_ = false;
  }
  for (Job& job : jobs) runtime::spawn(tell(shared_from_this(), std::move(job)));
}

Task<bool> GiveBacks::keep_telling(std::shared_ptr<GiveBacks> self) {
  runtime::Event nobody(self->runtime_);
  for (unsigned failures = 0;; ++failures) {
    const Micros delay = next_delay(between_give_backs, failures, self->runtime_->random());
    co_await nobody.wait_until(self->runtime_->now() + delay);
    auto job = self->front();
    if (!job) co_return true;
    auto telling = tell(self, std::move(*job));
    const bool is_heard = co_await std::move(telling);
    if (!is_heard) continue;
    self->tell_all();
    co_return true;
  }
}

}  // namespace holdfast::backends::quorum
