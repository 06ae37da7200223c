// SPDX-License-Identifier: Apache-2.0
//
// Several locks at once, work under a lock, and what an operator sees and does.
#include "client_contract.hpp"

#include <array>
#include <set>
#include <stdexcept>

namespace holdfast::test {

using ThreeNames = std::array<std::string_view, 3>;

TEST_P(ClientContract, acquire_all_takes_every_name) {
  {
    auto leases = ok(client.acquire_all(ThreeNames{"b", "c", "a"}));
    ASSERT_EQ(leases->size(), 3U);
    for (const auto* name : {"a", "b", "c"}) {
      EXPECT_EQ(code_of(client.mutex(name).acquire()), "busy");
    }
  }
  for (const auto* name : {"a", "b", "c"}) EXPECT_TRUE(is_ok(client.mutex(name).acquire()));
}

TEST_P(ClientContract, acquire_all_takes_nothing_when_one_is_busy) {
  auto taken = ok(client.mutex("c").acquire());
  EXPECT_EQ(code_of(client.acquire_all(ThreeNames{"a", "b", "c"})), "busy");
  const auto start = now();
  EXPECT_EQ(code_in_the_end(
                [&] { return client.acquire_all(ThreeNames{"a", "b", "c"}, {.wait = 50ms}); }),
            "timed_out");
  EXPECT_LT(now() - start, at_most(1s));
  EXPECT_TRUE(is_ok(client.mutex("a").acquire()));
  EXPECT_TRUE(is_ok(client.mutex("b").acquire()));
}

TEST_P(ClientContract, two_that_take_the_same_names_never_wait_for_each_other_for_ever) {
  long counter = 0;
  const auto work = [&](ThreeNames names) {
    for (int round = 0; round < 15; ++round) {
      auto leases = client.acquire_all(names, {.wait = 60s});
      ASSERT_TRUE(is_ok(leases));
      ++counter;
    }
  };
  {
    std::jthread one([&] { work({"a", "b", "c"}); });
    std::jthread two([&] { work({"c", "b", "a"}); });
  }
  EXPECT_EQ(counter, 30);
}

TEST_P(ClientContract, acquire_all_refuses_no_name_and_one_name_twice) {
  EXPECT_EQ(code_of(client.acquire_all({})), "bad_input");
  EXPECT_EQ(code_of(client.acquire_all(ThreeNames{"a", "b", "a"})), "bad_input");
  EXPECT_TRUE(client.list()->locks.empty());
}

TEST_P(ClientContract, with_lock_runs_the_work_under_the_lock_and_passes_its_result_on) {
  const auto doubled = client.with_lock("orders:42", {}, [this](const Lease& lease) {
    EXPECT_TRUE(lease.valid());
    EXPECT_EQ(code_of(client.mutex("orders:42").acquire()), "busy");
    return 42;
  });
  EXPECT_EQ(doubled, 42);
  EXPECT_TRUE(is_ok(client.with_lock("orders:42", {}, [](const Lease&) {})));
  const auto failed = client.with_lock(
      "orders:42", {}, [](const Lease&) -> Result<int> { return fail(Errc::lost, "on purpose"); });
  EXPECT_EQ(code_of(failed), "lost");
  EXPECT_TRUE(is_ok(client.mutex("orders:42").acquire()));
}

TEST_P(ClientContract, with_lock_runs_nothing_without_the_lock) {
  auto taken = ok(client.mutex("orders:42").acquire());
  bool ran = false;
  EXPECT_EQ(code_of(client.with_lock("orders:42", {}, [&](const Lease&) { ran = true; })), "busy");
  EXPECT_FALSE(ran);
}

TEST_P(ClientContract, with_lock_releases_when_the_work_throws) {
  const auto work = [](const Lease&) { throw std::runtime_error("on purpose"); };
  EXPECT_THROW((void)client.with_lock("orders:42", {}, work), std::runtime_error);
  EXPECT_TRUE(is_ok(client.mutex("orders:42").acquire()));
}

TEST_P(ClientContract, an_operator_sees_holders_and_waiters) {
  auto holder = ok(client.mutex("orders:42").acquire({.note = "nightly"}));
  std::stop_source stop;
  std::jthread waiter([&] {
    (void)client.mutex("orders:42").acquire({.wait = 60s, .note = "hourly"}, stop.get_token());
  });
  ASSERT_TRUE(has_waiter());
  const auto seen = client.inspect("orders:42");
  EXPECT_EQ(seen->name, "orders:42");
  EXPECT_EQ(seen->kind, Kind::mutex);
  const bool in_order = why_not(model::LockSpec::mutex(Order::fifo)).empty();
  EXPECT_EQ(seen->order, in_order ? Order::fifo : Order::barging);
  ASSERT_EQ(seen->holders.size(), 1U);
  EXPECT_EQ(seen->holders[0].fence, holder->fence());
  EXPECT_EQ(seen->holders[0].metadata->note, "nightly");
  EXPECT_EQ(seen->waiters[0].metadata->note, "hourly");
  stop.request_stop();
}

TEST_P(ClientContract, an_operator_lists_locks_page_by_page) {
  std::vector<Lease> leases;
  for (int i = 0; i < 25; ++i) {
    auto lease = ok(client.mutex("job/" + std::to_string(i)).acquire());
    leases.push_back(std::move(*lease));
  }
  auto other = ok(client.mutex("other").acquire());
  std::set<std::string> seen;
  std::string cursor;
  do {
    const auto page = client.list({.prefix = "job/", .cursor = cursor, .limit = 10});
    ASSERT_TRUE(is_ok(page));
    for (const auto& lock : page->locks) seen.insert(lock.name);
    cursor = page->next;
  } while (!cursor.empty());
  EXPECT_EQ(seen.size(), 25U);
  leases.clear();
  EXPECT_TRUE(eventually([this] { return client.list()->locks.size() == 1; }));
}

TEST_P(ClientContract, an_operator_takes_a_lock_away_and_the_next_in_line_gets_it) {
  auto stuck = ok(client.mutex("orders:42").acquire({.ttl = 10s}));
  std::jthread waiter([&] {
    auto next = client.mutex("orders:42").acquire({.wait = 60s});
    ASSERT_TRUE(is_ok(next));
    EXPECT_GT(next->fence(), stuck->fence());
  });
  ASSERT_TRUE(has_waiter());
  EXPECT_EQ(client.force_release("orders:42", "its process hangs"), 1U);
  waiter.join();
  EXPECT_EQ(code_of(client.force_release("orders:42", "again")), "not_held");
}

TEST_P(ClientContract, names_for_acquire_all_can_be_written_in_place) {
  const auto both = client.acquire_all({"left", "right"});
  ASSERT_TRUE(is_ok(both));
  EXPECT_EQ(both->size(), 2U);
}

}  // namespace holdfast::test
