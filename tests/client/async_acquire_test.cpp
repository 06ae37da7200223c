// SPDX-License-Identifier: Apache-2.0
//
// A coroutine that awaits a lock may be destroyed at any point; the lock is never leaked.
#include "client/hand_client.hpp"

#include <coroutine>

namespace holdfast::test {
namespace {

// A user's coroutine that somebody else owns and may destroy.
class Owned {
 public:
  struct promise_type {
    Owned get_return_object() {
      return Owned(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
  explicit Owned(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Owned(Owned&& moved) noexcept : handle_(std::exchange(moved.handle_, {})) {}
  Owned& operator=(Owned&&) = delete;
  ~Owned() {
    if (handle_) handle_.destroy();
  }
  bool done() const { return handle_.done(); }

 private:
  std::coroutine_handle<promise_type> handle_;
};

Owned work_under(Mutex lock, AcquireOptions options, std::shared_ptr<std::optional<Errc>> error) {
  auto acquiring = lock.async_acquire(options);
  auto lease = co_await std::move(acquiring);
  if (!lease) {
    *error = lease.error().code;
    co_return;
  }
  *error = Errc{};
  co_await std::suspend_always{};
}

class AsyncAcquire : public ClientTest {
 public:
  Owned start(AcquireOptions options = {.ttl = 4s, .wait = 60s}) {
    return work_under(mine.api.mutex("orders"), options, error);
  }
  void expect_nothing_left() {
    advance(5s);
    EXPECT_TRUE(is_free("orders"));
    EXPECT_TRUE(other.acquire("orders").result().has_value());
    EXPECT_EQ(runtime->jobs(), 0U);
  }

  std::shared_ptr<std::optional<Errc>> error = std::make_shared<std::optional<Errc>>();
};

TEST_F(AsyncAcquire, a_task_that_nobody_awaits_asks_nothing) {
  {
    auto lock = mine.api.mutex("orders");
    auto task = lock.async_acquire();
  }
  EXPECT_EQ(mine.line->history().size(), 0U);
}

TEST_F(AsyncAcquire, a_bad_option_is_reported_without_asking) {
  const auto coroutine = start({.ttl = 0s});
  EXPECT_EQ(*error, Errc::bad_input);
  EXPECT_TRUE(coroutine.done());
}

TEST_F(AsyncAcquire, the_options_texts_need_to_live_only_until_the_call_returns) {
  auto lock = mine.api.mutex("orders");
  std::optional<Task<Result<Lease>>> task;
  {
    std::string owner = "somebody with a name that is on the heap";
    std::string note = "a note that is long enough to be on the heap too";
    task.emplace(lock.async_acquire({.owner = owner, .note = note}));
    owner.assign(owner.size(), 'x');
    note.assign(note.size(), 'x');
  }
  Running<Result<Lease>> running(std::move(*task));
  runtime->run();
  EXPECT_EQ(running.result()->owner().str(), "somebody with a name that is on the heap");
  EXPECT_TRUE(seen("orders").holders.at(0).metadata->note.starts_with("a note"));
}

TEST_F(AsyncAcquire, a_coroutine_destroyed_while_it_holds_gives_back) {
  {
    const auto coroutine = start();
    EXPECT_EQ(*error, Errc{});
    EXPECT_EQ(holders("orders"), 1U);
  }
  expect_nothing_left();
}

TEST_F(AsyncAcquire, a_coroutine_destroyed_while_queued_leaves_the_queue) {
  auto lease = std::make_optional(other.take("orders"));
  {
    const auto coroutine = start();
    EXPECT_EQ(waiters("orders"), 1U);
  }
  runtime->run();
  EXPECT_EQ(waiters("orders"), 0U);
  lease.reset();
  expect_nothing_left();
}

TEST_F(AsyncAcquire, a_coroutine_destroyed_while_the_store_does_not_answer_leaves_nothing) {
  mine.line->script(Verb::acquire, Fault::lose_reply());
  {
    const auto coroutine = start();
    advance(100ms);
    EXPECT_EQ(holders("orders"), 1U);
  }
  expect_nothing_left();
}

TEST_F(AsyncAcquire, a_coroutine_destroyed_while_the_store_is_paused_leaves_nothing) {
  auto lease = std::make_optional(other.take("orders"));
  {
    const auto coroutine = start();
    mine.line->pause();
    advance(2s);
  }
  lease.reset();
  advance(100ms);
  mine.line->resume();
  expect_nothing_left();
}

TEST_F(AsyncAcquire, a_coroutine_destroyed_between_the_grant_and_its_resumption_gives_back) {
  auto lease = other.take("orders");
  {
    const auto coroutine = start();
    value_of(lease.release());
    EXPECT_EQ(holders("orders"), 1U) << "granted; the resumption is posted";
    EXPECT_FALSE(error->has_value());
  }
  expect_nothing_left();
  EXPECT_FALSE(error->has_value());
}

TEST_F(AsyncAcquire, a_coroutine_destroyed_while_the_message_is_on_its_way_gives_back) {
  auto lease = other.take("orders");
  mine.line->delay_notices(100ms);
  {
    const auto coroutine = start();
    value_of(lease.release());
    advance(50ms);
    EXPECT_EQ(holders("orders"), 1U);
  }
  expect_nothing_left();
}

TEST_F(AsyncAcquire, a_coroutine_destroyed_at_any_moment_leaves_nothing) {
  for (auto cut = 0ms; cut < 2000ms; cut += 9ms) {
    auto client = another_client();
    client.line->script(Verb::acquire, Fault::delay_reply(70ms));
    client.line->script(Verb::acquire, Fault::lose_reply());
    client.line->delay_notices(40ms);
    auto lease = std::make_optional(other.take("orders"));
    {
      const auto coroutine =
          work_under(client.api.mutex("orders"), {.ttl = 4s, .wait = 60s}, error);
      advance(std::min(cut, 900ms));
      lease.reset();
      advance(cut - std::min(cut, 900ms));
    }
    advance(200ms);
    ASSERT_TRUE(is_free("orders")) << cut.count();
  }
}

TEST_F(AsyncAcquire, the_callers_stop_token_cancels_and_resumes_the_coroutine) {
  const auto lease = other.take("orders");
  std::stop_source stop;
  auto acquiring = mine.acquire("orders", {.wait = 60s}, stop.get_token());
  advance(1s);
  stop.request_stop();
  EXPECT_FALSE(acquiring.done()) << "not inside request_stop";
  runtime->run();
  EXPECT_EQ(error_of(acquiring.result()), Errc::cancelled);
}

TEST_F(AsyncAcquire, the_waiter_is_never_resumed_inside_somebody_elses_release) {
  auto lease = other.take("orders");
  auto lock = mine.api.mutex("orders");
  bool resumed = false;
  Running<Result<Lease>> acquiring(lock.async_acquire({.wait = 60s}));
  runtime::spawn(lock.async_acquire({.wait = 60s}), [&](Result<Lease>&&) { resumed = true; });
  value_of(lease.release());
  EXPECT_FALSE(acquiring.done());
  runtime->run();
  EXPECT_TRUE(acquiring.done());
  value_of(acquiring.result()->release());
  EXPECT_FALSE(resumed);
  runtime->run();
  EXPECT_TRUE(resumed);
}

}  // namespace
}  // namespace holdfast::test
