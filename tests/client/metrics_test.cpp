// SPDX-License-Identifier: Apache-2.0
#include <holdfast/metrics.hpp>

#include "client/hand_client.hpp"
#include "client/real_client.hpp"

#include <stop_token>
#include <thread>
#include <vector>

namespace holdfast::test {
namespace {

class MetricsTest : public ClientTest {
 public:
  ClientMetrics counted() const { return mine.api.metrics(); }
};

TEST_F(MetricsTest, say_how_acquires_ended) {
  auto lease = mine.take("mine");
  const auto taken = other.take("taken");
  EXPECT_EQ(error_of(mine.api.mutex("taken").try_acquire()), Errc::busy);
  auto waiting = mine.acquire("taken", {.wait = 1s});
  advance(1s);
  EXPECT_EQ(error_of(waiting.result()), Errc::timed_out);
  std::stop_source stop;
  auto stopped = mine.acquire("taken", {.wait = 1s}, stop.get_token());
  stop.request_stop();
  runtime->run();
  EXPECT_EQ(error_of(stopped.result()), Errc::cancelled);
  mine.line->script(Verb::acquire, Fault::refuse());
  EXPECT_EQ(error_of(mine.api.mutex("x").try_acquire()), Errc::unavailable);
  EXPECT_EQ(error_of(mine.api.mutex("x").try_acquire({.ttl = 0s})), Errc::bad_input);

  const auto found = counted();
  EXPECT_EQ(found.granted, 1U);
  EXPECT_EQ(found.busy, 1U);
  EXPECT_EQ(found.timed_out, 1U);
  EXPECT_EQ(found.cancelled, 1U);
  EXPECT_EQ(found.failed, 1U) << "what was refused before the store was asked is not there";
  EXPECT_EQ(other.api.metrics().granted, 1U) << "each client counts for itself";
}

TEST_F(MetricsTest, a_lease_leaves_the_number_of_those_held_however_it_ends) {
  auto released = mine.take("released");
  auto destroyed = std::make_optional(mine.take("destroyed"));
  auto detached = mine.take("detached");
  const auto lost = mine.take("lost", {.ttl = 1s, .renew = false});
  auto adopted = value_of(mine.api.adopt("released", released.owner().view()));
  EXPECT_EQ(counted().held, 5U);

  value_of(released.release());
  EXPECT_EQ(counted().held, 4U);
  EXPECT_EQ(error_of(released.release()), Errc::not_held);
  EXPECT_EQ(counted().held, 4U) << "once";
  destroyed.reset();
  EXPECT_EQ(counted().held, 3U);
  detached.detach();
  EXPECT_EQ(counted().held, 2U);
  advance(2s);
  EXPECT_EQ(counted().held, 1U) << "lost";
  EXPECT_EQ(counted().lost, 1U);
  adopted.detach();
  EXPECT_EQ(counted().held, 0U);
  EXPECT_EQ(counted().hold.count, 5U);
  advance(30s);  // what was detached ends with its ttl
}

TEST_F(MetricsTest, a_lease_whose_release_failed_leaves_too_and_is_counted_as_such) {
  const auto lease = hold(mine, "orders");
  EXPECT_EQ(counted().held, 1U);
  mine.line->pause();
  Running<Result<Released>> releasing(lease->release());
  EXPECT_EQ(counted().held, 0U);
  advance(client::release_timeout);
  EXPECT_EQ(error_of(releasing.result()), Errc::unavailable);
  EXPECT_EQ(counted().held, 0U);
  EXPECT_EQ(counted().unreleased, 1U);
  advance(30s);
}

TEST_F(MetricsTest, a_lease_that_nobody_ended_leaves_when_it_is_gone) {
  auto lease = hold(mine, "orders", {.ttl = 1s});
  EXPECT_EQ(counted().held, 1U);
  lease.reset();
  EXPECT_EQ(counted().held, 0U);
  EXPECT_EQ(value_of(mine.api.release_all()).released, 0U);
  advance(1s);
}

TEST_F(MetricsTest, say_how_long_locks_were_waited_for_and_held) {
  auto holder = other.take("orders");
  auto waiting = mine.acquire("orders", {.wait = 10s});
  advance(300ms);
  value_of(holder.release());
  runtime->run();
  advance(5s);
  EXPECT_EQ(counted().hold.count, 0U) << "it is held yet";
  value_of(waiting.result()->release());
  const auto quick = mine.take("quick");

  const auto found = counted();
  EXPECT_EQ(found.wait.count, 2U);
  EXPECT_EQ(found.wait.longest, 300ms);
  EXPECT_EQ(found.wait.total, 300ms);
  EXPECT_EQ(found.wait.within[0], 1U);
  EXPECT_EQ(found.wait.within[3], 1U) << "over 100 ms, up to a second";
  EXPECT_EQ(found.hold.count, 1U);
  EXPECT_EQ(found.hold.total, 5s);
  EXPECT_EQ(found.hold.within[4], 1U);
}

TEST_F(MetricsTest, say_what_became_of_idempotent_runs) {
  const auto work = [](const holdfast::Run&) { return std::string("1"); };
  const IdempotencyOptions options{.fingerprint = "f", .guard = 1s};
  value_of(mine.api.idempotent("a", options, work));
  value_of(mine.api.idempotent("a", options, work));
  value_of(mine.api.idempotent("a", {.fingerprint = "g"}, work));
  {
    auto begun = value_of(mine.api.begin_run("b", options));
    value_of(mine.api.idempotent("b", options, work));  // in progress
    value_of(begun.run->fail("no"));
  }
  value_of(mine.api.idempotent("b", options, work));  // failed before
  value_of(mine.api.begin_run("c", options)).run->abandon().value();
  value_of(mine.api.idempotent("c", {.take_over = TakeOver::refuse}, work));
  value_of(mine.api.idempotent("c", options, work));
  mine.line->script(Verb::run_begin, Fault::refuse());
  EXPECT_EQ(error_of(mine.api.idempotent("d", options, work)), Errc::unavailable);

  const auto runs = counted().runs;
  EXPECT_EQ(runs.fresh, 3U);
  EXPECT_EQ(runs.replayed, 1U);
  EXPECT_EQ(runs.mismatch, 1U);
  EXPECT_EQ(runs.in_progress, 1U);
  EXPECT_EQ(runs.failed_before, 1U);
  EXPECT_EQ(runs.unknown, 1U);
  EXPECT_EQ(runs.took_over, 1U);
  EXPECT_EQ(runs.errors, 1U);
}

TEST_F(MetricsTest, say_how_often_a_rate_limit_allowed) {
  const auto limit = mine.api.rate_limit("mails", {.limit = 2, .window = 1min});
  for (int i = 0; i < 3; ++i) value_of(limit.check());
  value_of(limit.peek());
  EXPECT_EQ(counted().rate_allowed, 2U);
  EXPECT_EQ(counted().rate_denied, 1U);
}

TEST(MetricsThreads, lose_nothing_between_threads) {
  const auto client = real_client();
  constexpr int pairs = 500;
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < pairs; ++i) {
          auto lease = client.mutex("m:" + std::to_string(thread)).acquire();
          ASSERT_TRUE(lease.has_value());
        }
      });
    }
  }
  const auto found = client.metrics();
  EXPECT_EQ(found.granted, 4U * pairs);
  EXPECT_EQ(found.hold.count, 4U * pairs);
  EXPECT_EQ(found.held, 0U);
}

TEST(TimingTest, counts_each_time_within_its_bounds) {
  Timing timing;
  timing.add(0us);
  timing.add(1ms);
  timing.add(1001us);
  timing.add(1h);
  EXPECT_EQ(timing.count, 4U);
  EXPECT_EQ(timing.within, (std::array<std::uint64_t, 8>{2, 1, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(timing.longest, 1h);
  Timing both = timing;
  both.add(timing);
  EXPECT_EQ(both.count, 8U);
  EXPECT_EQ(both.total, 2 * timing.total);
}

}  // namespace
}  // namespace holdfast::test
