// SPDX-License-Identifier: Apache-2.0
#include "server/endpoints/patterns/ask_all.hpp"

#include "runtime/event.hpp"
#include "runtime/spawn.hpp"

namespace holdfast::server::patterns {

namespace {

// A store keeps its deadline; this is for one that does not.
constexpr Micros grace = std::chrono::milliseconds(100);

// Outlives the question, for answers that come too late.
class Round {
 public:
  Round(std::size_t members, std::shared_ptr<runtime::Runtime> runtime)
      : all_in(std::move(runtime)), missing_(members) {
    replies_.assign(members, fail(Errc::outcome_unknown, "no answer in time"));
  }

  void put(std::size_t at, Result<store::Reply> reply) {
    std::unique_lock lock(mutex_);
    if (is_over_) return;
    replies_[at] = std::move(reply);
    const bool was_last = --missing_ == 0;
    lock.unlock();
    if (was_last) all_in.notify();
  }
  Replies take() {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    return std::move(replies_);
  }

  runtime::Event all_in;

 private:
  std::mutex mutex_;
  Replies replies_;       // guarded by mutex_
  std::size_t missing_;   // guarded by mutex_
  bool is_over_ = false;  // guarded by mutex_
};

}  // namespace

Task<Replies> ask_all(Members::Cores members, LockName name, model::LockCommand command,
                      Micros timeout) {
  const auto runtime = runtime::shared_runtime();
  const auto deadline = runtime->now() + timeout;
  const auto round = std::make_shared<Round>(members.size(), runtime);
  for (std::size_t at = 0; at < members.size(); ++at) {
    if (!members[at]) {
      round->put(at, fail(Errc::unavailable, "could not be reached so far"));
      continue;
    }
    auto asking =
        members[at]->store().apply({.name = name, .command = command, .deadline = deadline});
    runtime::spawn(std::move(asking),
                   [round, at](Result<store::Reply>&& reply) { round->put(at, std::move(reply)); });
  }
  co_await round->all_in.wait_until(deadline + grace);
  co_return round->take();
}

}  // namespace holdfast::server::patterns
