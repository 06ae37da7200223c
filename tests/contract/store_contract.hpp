// SPDX-License-Identifier: Apache-2.0
//
// What every store promises, asked of the store itself. The rules of the locks have table tests of
// their own on the model; here they prove that the store runs that model, atomically and in time.
#pragma once

#include "runtime/spawn.hpp"
#include "stores.hpp"
#include "support/ask.hpp"
#include "support/temporary_folder.hpp"
#include "support/timing.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <utility>

namespace holdfast::test {

// Far longer than anything here takes, so that only a broken store ever meets it.
inline constexpr Micros patience = std::chrono::seconds(60);

inline LockName name_of(std::string_view text) { return LockName::make(text).value(); }

// A queued acquire and its ear.
struct QueuedAsk {
  Ask ask;
  std::unique_ptr<store::Listening> ear;
};

class StoreContract : public testing::TestWithParam<StoreUnderTest> {
 protected:
  using Spec = model::LockSpec;

  void SetUp() override;

  std::shared_ptr<store::Store> open_again();
  // What the store says against it; empty if it can do that.
  std::string why_not(const Spec& wanted) const;
  runtime::LocalTime soon() const { return runtime->now() + patience; }

  // One command, with the errors of the store.
  Result<store::Reply> send(model::LockCommand command, std::string_view name);
  Result<store::Reply> send(model::GuardCommand command, std::string_view name);
  // Under the name of the scope's limit.
  Result<store::Reply> send(model::RateCommand command, std::string_view scope);
  // One command that the store must answer.
  model::LockOutcome apply(model::LockCommand command, std::string_view name = "orders:42");

  model::LockOutcome acquire(const Ask& ask, std::string_view name = "orders:42");
  model::LockOutcome renew(std::string_view owner, std::uint64_t request = 1, Micros ttl = 10s);
  model::LockOutcome release(std::string_view owner, std::uint64_t request = 1,
                             std::string_view name = "orders:42");
  // Whatever the owner holds up to this fence.
  model::LockOutcome release_up_to(std::string_view owner, Fence fence);
  model::LockOutcome force_release();
  LockView inspect(std::string_view name = "orders:42");

  // A check of a fence that the store must answer.
  model::GuardOutcome check(Fence fence, std::string_view name = "warehouse");

  // What the store says against rate limits; empty if it has them.
  std::string why_no_rate_limits();
  // A question about a rate limit that the store must answer.
  RateOutcome rate(const model::RateCommand& command, std::string_view scope = "api");

  // The next question of a waiter, under a request of its own where the store wants that.
  model::LockOutcome ask_again(QueuedAsk& waiter, std::string_view name = "orders:42");
  // Joins the queue, ear first. Whoever does not say otherwise has a claim that lasts.
  QueuedAsk queue_up(const Ask& ask, std::string_view name = "orders:42");
  // The same behind anna, whose lease ends soon; its fence. A slow machine needs several tries.
  std::pair<QueuedAsk, Fence> queue_up_behind_short_lease(const Ask& ask);
  // Follows the waiter's protocol until it is granted: a message, or a hint and another question.
  std::optional<model::Granted> await_turn(QueuedAsk& waiter, Micros within = patience,
                                           std::string_view name = "orders:42");

  // Nothing if it does not have to wait.
  std::optional<QueuedAsk> try_to_queue(Ask ask, std::string_view name = "orders:42");

  LockPage list(std::string prefix, std::string cursor = {}, std::uint32_t limit = 100);
  std::vector<std::string> names_listed(const std::string& prefix, std::uint32_t limit = 100);

  // For what cannot be seen. What can be seen is polled for, with `eventually`.
  static void let_pass(Micros time) { std::this_thread::sleep_for(time); }
  // Once what is held has ended. A store may round a lease up to its next millisecond, which a look
  // does not show.
  bool becomes_free(std::string_view name = "orders:42") {
    const bool is_free = eventually([&] { return inspect(name).holders.empty(); });
    let_pass(2ms);
    return is_free;
  }

  TemporaryFolder folder;
  std::shared_ptr<runtime::Runtime> runtime = runtime::shared_runtime();
  std::shared_ptr<store::Store> store;
  Spec spec = Spec::mutex();  // of every command that does not say another
  std::atomic<std::uint64_t> last_fresh_request = 1'000'000'000;
};

}  // namespace holdfast::test
