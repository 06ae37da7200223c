// SPDX-License-Identifier: Apache-2.0
#include "client/hand_client.hpp"

#include <array>

namespace holdfast::test {
namespace {

class AcquireAll : public ClientTest {
 public:
  using Names = std::vector<std::string_view>;
};

TEST_F(AcquireAll, takes_every_name_in_sorted_order) {
  const Names names{"c", "a", "b"};
  const auto leases = value_of(mine.api.acquire_all(names));
  ASSERT_EQ(leases.size(), 3U);
  EXPECT_EQ(leases[0].name().str(), "a");
  EXPECT_EQ(leases[2].name().str(), "c");
  EXPECT_LT(leases[0].fence(), leases[1].fence());
}

TEST_F(AcquireAll, or_none_of_them) {
  const auto held = other.take("b");
  const Names names{"a", "b", "c"};
  EXPECT_EQ(error_of(mine.api.acquire_all(names)), Errc::busy);
  EXPECT_TRUE(is_free("a"));
  EXPECT_TRUE(is_free("c"));
}

TEST_F(AcquireAll, or_none_of_them_when_the_store_fails_half_way) {
  mine.line->script(Verb::acquire, Fault::refuse(), 1, 2);
  const Names names{"a", "b", "c"};
  EXPECT_EQ(error_of(mine.api.acquire_all(names)), Errc::unavailable);
  EXPECT_TRUE(store_is_empty());
}

TEST_F(AcquireAll, refuses_bad_names_before_it_takes_any) {
  EXPECT_EQ(error_of(mine.api.acquire_all({})), Errc::bad_input);
  EXPECT_EQ(error_of(mine.api.acquire_all(Names{"a", "b", "a"})), Errc::bad_input);
  EXPECT_EQ(error_of(mine.api.acquire_all(Names{"a", "b", ""})), Errc::bad_input);
  EXPECT_EQ(error_of(mine.api.acquire_all(Names{"a"}, {.ttl = 0s})), Errc::bad_input);
  EXPECT_EQ(mine.line->history().size(), 0U);
}

TEST_F(AcquireAll, cancelled_before_it_starts_takes_none) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(error_of(mine.api.acquire_all(Names{"a", "b"}, {}, stop.get_token())), Errc::cancelled);
  EXPECT_TRUE(store_is_empty());
}

class WithLock : public ClientTest {};

TEST_F(WithLock, gives_the_result_of_the_work) {
  EXPECT_EQ(value_of(mine.api.with_lock("orders", {}, [](const Lease&) { return 42; })), 42);
  EXPECT_TRUE(is_free("orders"));
}

TEST_F(WithLock, does_not_wrap_a_result_twice) {
  const auto work = [](const Lease&) -> Result<int> { return fail(Errc::busy, "mine"); };
  const Result<int> result = mine.api.with_lock("orders", {}, work);
  EXPECT_EQ(error_of(result), Errc::busy);
}

TEST_F(WithLock, holds_the_lock_while_the_work_runs) {
  const auto done = mine.api.with_lock("orders", {}, [&](const Lease& lease) {
    EXPECT_TRUE(lease.valid());
    EXPECT_EQ(holders("orders"), 1U);
  });
  EXPECT_TRUE(done.has_value());
}

TEST_F(WithLock, releases_when_the_work_throws) {
  const auto fail = [](const Lease&) { throw std::runtime_error("no paper"); };
  EXPECT_THROW(value_of(mine.api.with_lock("orders", {}, fail)), std::runtime_error);
  EXPECT_TRUE(is_free("orders"));
  advance(60s);
  EXPECT_EQ(mine.line->count(Verb::renew), 0U);
}

TEST_F(WithLock, runs_nothing_without_the_lock) {
  const auto lease = other.take("orders");
  bool ran = false;
  EXPECT_EQ(error_of(mine.api.with_lock("orders", {}, [&](const Lease&) { ran = true; })),
            Errc::busy);
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace holdfast::test
