// SPDX-License-Identifier: Apache-2.0
//
// Our primitives against the commands that n8n's nodes send, one connection for each of them, in
// both directions; and the races of the original, a test for each.
#include "n8n_fixture.hpp"

namespace holdfast::test {
namespace {

TEST_F(N8n, a_store_is_asked_for_their_keys_whatever_its_url_said) {
  EXPECT_EQ(n8n::store_url("redis://h:1/2"), "redis://h:1/2?dialect=counter");
  EXPECT_EQ(n8n::store_url("rediss://h?audit=5&profile=redisx&prefix=a:&timeout=1s"),
            "rediss://h?audit=5&timeout=1s&dialect=counter");
  EXPECT_EQ(n8n::store_url("redis://h?dialect=counter"), "redis://h?dialect=counter");
  for (const auto* other : {"memory:", "file:/x?durable=yes", "http://h:3009", "redlock://a,b,c"}) {
    EXPECT_EQ(n8n::store_url(other), other);
  }
}

TEST_F(N8n, we_hold_and_they_see_count_2_and_our_words) {
  const auto lock = n8n::acquire(client, {.scope = "orders",
                                          .ttl_seconds = 600,
                                          .execution_id = "77",
                                          .lock_id = "mine",
                                          .workflow_id = "w1",
                                          .workflow_name = "Nightly"});
  ASSERT_TRUE(is_ok(lock));
  EXPECT_EQ(lock->count, 1U);
  EXPECT_EQ(lock->key, "n8n-lock-orders");
  EXPECT_EQ(lock->meta_key, "n8n-lock-orders:meta");
  EXPECT_EQ(nodes.get(lock->meta_key),
            R"({"lock_id":"mine","workflow_id":"w1","workflow_name":"Nightly",)"
            R"("execution_id":"77","locked_at":")" +
                lock->locked_at + R"("})");
  EXPECT_GT(raw.integer({"TTL", lock->key}), 590);
  EXPECT_GT(raw.integer({"TTL", lock->meta_key}), 590);
  EXPECT_EQ(nodes.acquire("orders", "theirs", 600), 2);
}

TEST_F(N8n, their_loser_shortens_our_ttl_and_we_set_it_back) {
  ASSERT_TRUE(is_ok(n8n::acquire(client, {.scope = "orders", .ttl_seconds = 600})));
  EXPECT_EQ(nodes.acquire("orders", "theirs", 60), 2);
  EXPECT_TRUE(eventually([&] { return raw.integer({"TTL", "n8n-lock-orders"}) > 500; }));
}

TEST_F(N8n, they_release_ours_with_the_right_lock_id_and_not_with_a_wrong_one) {
  ASSERT_TRUE(is_ok(n8n::acquire(client, {.scope = "orders", .lock_id = "mine"})));
  EXPECT_FALSE(nodes.release("orders", "wrong"));
  EXPECT_EQ(code_of(try_once("orders")), "busy");
  EXPECT_TRUE(nodes.release("orders", "mine"));
  EXPECT_TRUE(is_ok(try_once("orders")));
}

TEST_F(N8n, they_hold_and_we_wait_until_they_release) {
  ASSERT_EQ(nodes.acquire("orders", "theirs", 600), 1);
  auto waiting = std::async(std::launch::async, [&] {
    auto lock = n8n::acquire(client, {.scope = "orders", .max_wait_seconds = 60});
    return std::pair(std::move(lock), SteadyClock::now());
  });
  ASSERT_TRUE(eventually([&] {
    const auto seen = client.inspect("orders");
    return seen && seen->waiters.size() == 1;
  }));
  const auto released = SteadyClock::now();
  ASSERT_TRUE(nodes.release("orders", "theirs"));
  const auto [lock, at] = waiting.get();
  ASSERT_TRUE(is_ok(lock));
  EXPECT_LT(at - released, at_most(told_at_once)) << "it was found by asking again";
  EXPECT_NE(nodes.get("n8n-lock-orders:meta").find(lock->lock_id), std::string::npos);
}

TEST_F(N8n, their_lock_makes_us_fail_fast_with_their_words_and_stays_as_it_was) {
  ASSERT_EQ(nodes.acquire("orders", "theirs", 50), 1);
  const auto failed = try_once("orders");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::busy);
  EXPECT_EQ(failed.error().message,
            "Lock acquisition failed (fail-fast): scope 'orders' is held (count=2). Caller passed "
            "wait_till_lock_released=false.");
  EXPECT_EQ(nodes.get("n8n-lock-orders"), "1");
  EXPECT_LE(raw.integer({"TTL", "n8n-lock-orders"}), 50);
}

TEST_F(N8n, we_release_theirs_with_the_right_lock_id_and_name_the_holder_otherwise) {
  ASSERT_EQ(nodes.acquire("orders", "theirs", 600), 1);
  const auto refused = n8n::release(client, "orders", "wrong");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::not_owner);
  EXPECT_EQ(refused.error().message,
            "LOGIC ERROR: Lock held by Their flow (id: w7, execution: their-execution) since "
            "2026-11-16T03:45:12.345Z, not by lock_id=wrong");
  EXPECT_EQ(nodes.get("n8n-lock-orders"), "1");
  const auto released = n8n::release(client, "orders", "theirs");
  ASSERT_TRUE(is_ok(released));
  EXPECT_FALSE(released->idempotent);
  EXPECT_THAT(keys(), testing::IsEmpty());
  const auto again = n8n::release(client, "orders", "theirs");
  ASSERT_TRUE(is_ok(again));
  EXPECT_TRUE(again->idempotent);
}

TEST_F(N8n, without_a_lock_id_only_a_free_lock_is_released) {
  ASSERT_EQ(nodes.acquire("orders", "theirs", 600), 1);
  const auto refused = n8n::release(client, "orders", std::nullopt);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, testing::EndsWith("not by lock_id=null"));
  nodes.release("orders", "theirs");
  EXPECT_TRUE(n8n::release(client, "orders", std::nullopt)->idempotent);
}

TEST_F(N8n, clean_up_ends_what_the_execution_left_of_theirs_and_ours_and_nothing_else) {
  nodes.acquire("a", "t1", 600, "dead");
  nodes.acquire("b", "t2", 600, "alive");
  ASSERT_TRUE(is_ok(n8n::acquire(client, {.scope = "c", .execution_id = "dead"})));
  ASSERT_TRUE(is_ok(n8n::acquire(client, {.scope = "d", .execution_id = "alive"})));
  ASSERT_TRUE(is_ok(n8n::acquire(client, {.scope = "e"})));
  const auto done = n8n::clean_up(client, {.execution_id = "dead", .lock_scopes = {"a", "b", "x"}});
  ASSERT_TRUE(is_ok(done));
  EXPECT_THAT(done->registered, testing::ElementsAre("a"));
  EXPECT_THAT(done->found, testing::ElementsAre("c"));
  EXPECT_EQ(done->reason, "");
  for (const auto* gone : {"a", "c"}) EXPECT_TRUE(is_ok(try_once(gone))) << gone;
  for (const auto* kept : {"b", "d", "e"}) EXPECT_EQ(code_of(try_once(kept)), "busy") << kept;
  const auto again = n8n::clean_up(client, {.execution_id = "dead"});
  ASSERT_TRUE(is_ok(again));
  EXPECT_EQ(again->reason, "no locks owned by failed execution");
  EXPECT_FALSE(n8n::clean_up(client, {.execution_id = "unknown"}))
      << "everybody who does not say is called so";
}

TEST_F(N8n, their_clean_up_ends_ours_by_its_execution) {
  ASSERT_TRUE(is_ok(n8n::acquire(client, {.scope = "orders", .execution_id = "77"})));
  EXPECT_FALSE(nodes.clean_up("orders", "78"));
  EXPECT_TRUE(nodes.clean_up("orders", "77"));
  EXPECT_TRUE(is_ok(try_once("orders")));
}

TEST_F(N8n, hits_of_both_count_in_one_window) {
  const n8n::RateRequest request{.scope = "api", .limit = 4, .window_seconds = 3600};
  EXPECT_EQ(n8n::check_rate(client, request)->count, 1U);
  const auto now_ms =
      std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  const auto bucket = "n8n-ratelimit-api-" + std::to_string(now_ms / 3'600'000);
  if (nodes.get(bucket).empty()) GTEST_SKIP() << "an hour ended between two lines";
  EXPECT_EQ(nodes.incr(bucket, 3600), 2);
  EXPECT_EQ(n8n::check_rate(client, request)->count, 3U);
  EXPECT_TRUE(n8n::check_rate(client, request)->allowed);
  const auto denied = n8n::check_rate(client, request);
  EXPECT_FALSE(denied->allowed);
  EXPECT_EQ(denied->count, 5U) << "what is denied counts too";
  EXPECT_EQ(denied->remaining, 0U);
  EXPECT_EQ(nodes.incr(bucket, 3600), 6);
}

// The races of the original, as docs/n8n.md#what-the-original-does-and-this-does-not lists them.
// What only its own nodes can do to each other remains theirs.

TEST_F(N8n, no_lock_of_ours_is_ever_without_a_ttl) {
  // One script: whatever moment one looks at, both keys have one.
  std::atomic<bool> is_over = false;
  std::atomic<int> looks = 0;
  std::atomic<int> immortal = 0;
  std::thread looking([&] {
    RawRedis other(shared_server());
    while (!is_over) {
      for (const auto* key : {"n8n-lock-orders", "n8n-lock-orders:meta"}) {
        if (other.integer({"PTTL", key}) == -1) ++immortal;
      }
      ++looks;
    }
  });
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(is_ok(n8n::acquire(client, {.scope = "orders", .lock_id = "mine"})));
    ASSERT_TRUE(is_ok(n8n::release(client, "orders", "mine")));
  }
  EXPECT_TRUE(eventually([&] { return looks > 100; }));
  is_over = true;
  looking.join();
  EXPECT_EQ(immortal, 0);
}

TEST_F(N8n, a_release_before_their_text_is_written_takes_nothing_away) {
  EXPECT_EQ(nodes.incr("n8n-lock-orders", 600), 1);
  const auto refused = n8n::release(client, "orders", "wrong");
  EXPECT_EQ(code_of(refused), "not_owner");
  EXPECT_EQ(nodes.get("n8n-lock-orders"), "1");
  nodes.set("n8n-lock-orders:meta", Nodes::meta_text("theirs", "1"), 600);
  EXPECT_TRUE(is_ok(n8n::release(client, "orders", "theirs")));
}

TEST_F(N8n, our_losers_leave_the_ttl_of_the_holder_alone) {
  nodes.acquire("orders", "theirs", 50);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(code_of(try_once("orders")), "busy");
  EXPECT_LE(raw.integer({"TTL", "n8n-lock-orders"}), 50);
  EXPECT_EQ(nodes.get("n8n-lock-orders"), "1");
}

TEST_F(N8n, a_lock_that_changed_hands_is_not_released_by_the_one_before) {
  ASSERT_TRUE(is_ok(n8n::acquire(client, {.scope = "orders", .ttl_seconds = 1, .lock_id = "old"})));
  ASSERT_TRUE(is_ok(n8n::acquire(
      client, {.scope = "orders", .max_wait_seconds = 30, .lock_id = "new", .workflow_id = "w2"})));
  EXPECT_EQ(code_of(n8n::release(client, "orders", "old")), "not_owner");
  EXPECT_EQ(code_of(try_once("orders")), "busy");
}

TEST_F(N8n, nobody_loses_its_text_to_the_second_half_of_a_release) {
  nodes.acquire("orders", "theirs", 600);
  nodes.del("n8n-lock-orders");
  EXPECT_EQ(code_of(try_once("orders")), "busy") << "they are still leaving";
  nodes.del("n8n-lock-orders:meta");
  const auto lock = try_once("orders");
  ASSERT_TRUE(is_ok(lock));
  EXPECT_NE(nodes.get("n8n-lock-orders:meta").find(lock->lock_id), std::string::npos);
}

TEST_F(N8n, every_acquire_has_a_lock_id_of_its_own) {
  const auto a = n8n::acquire(client, {.scope = "a", .execution_id = "77"});
  const auto b = n8n::acquire(client, {.scope = "b", .execution_id = "77"});
  ASSERT_TRUE(is_ok(a) && is_ok(b));
  EXPECT_NE(a->lock_id, b->lock_id);
  EXPECT_THAT(
      a->lock_id,
      testing::MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
}

TEST_F(N8n, a_scope_that_is_the_text_of_another_is_refused_and_the_clock_is_the_servers) {
  EXPECT_EQ(code_of(try_once("x:meta")), "bad_input");
  EXPECT_THAT(keys(), testing::IsEmpty());
}

TEST_F(N8n, locked_at_is_the_time_of_the_grant_and_waiters_are_served_in_order) {
  const auto first = n8n::acquire(client, {.scope = "orders", .lock_id = "first"});
  ASSERT_TRUE(is_ok(first));
  std::vector<std::future<Result<n8n::Lock>>> waiting;
  for (std::size_t i = 0; i < 3; ++i) {
    waiting.push_back(std::async(std::launch::async, [&, i] {
      return n8n::acquire(
          client,
          {.scope = "orders", .max_wait_seconds = 60, .lock_id = "waiter-" + std::to_string(i)});
    }));
    ASSERT_TRUE(eventually([&] { return client.inspect("orders")->waiters.size() == i + 1; }));
  }
  const auto server_ms = [&] {
    const auto time = raw.call({"TIME"});
    return std::stoll(time->element[0]->str) * 1000 + std::stoll(time->element[1]->str) / 1000;
  };
  std::string last = first->locked_at;
  std::string holder = "first";
  for (std::size_t i = 0; i < 3; ++i) {
    const auto before = server_ms();
    ASSERT_TRUE(eventually([&] { return server_ms() > before; }));
    ASSERT_TRUE(is_ok(n8n::release(client, "orders", holder)));
    const auto lock = waiting[i].get();
    ASSERT_TRUE(is_ok(lock));
    EXPECT_GT(lock->locked_at, last) << "not when it began to wait";
    last = lock->locked_at;
    holder = lock->lock_id;
  }
}

TEST_F(N8n, a_wait_that_takes_too_long_ends_with_their_words_and_leaves_nothing) {
  nodes.acquire("orders", "theirs", 600);
  const auto failed = n8n::acquire(client, {.scope = "orders", .max_wait_seconds = 1});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::timed_out);
  EXPECT_EQ(failed.error().message,
            "Lock acquisition timed out after 1s waiting for scope 'orders'.");
  EXPECT_TRUE(client.inspect("orders")->waiters.empty());
}

}  // namespace
}  // namespace holdfast::test
