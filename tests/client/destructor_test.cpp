// SPDX-License-Identifier: Apache-2.0
#include "client/hand_client.hpp"

namespace holdfast::test {
namespace {

class Destructor : public ClientTest {};

TEST_F(Destructor, returns_at_once_while_the_store_is_paused_and_cleans_up_later) {
  auto lease = std::make_optional(mine.take("orders", {.ttl = 30s}));
  mine.line->pause();
  const auto before = now();
  lease.reset();
  EXPECT_EQ(now(), before) << "it waited";
  EXPECT_EQ(holders("orders"), 1U);
  advance(5s);
  mine.line->resume();
  advance(1s);
  EXPECT_TRUE(is_free("orders"));
  EXPECT_EQ(mine.core->unreleased.load(), 0U);
}

TEST_F(Destructor, counts_what_it_never_could_give_back) {
  auto lease = std::make_optional(mine.take("orders", {.ttl = 3s}));
  mine.line->pause();
  lease.reset();
  advance(10s);
  EXPECT_EQ(mine.core->unreleased.load(), 1U);
  EXPECT_TRUE(is_free("orders")) << "the ttl gave it back";
}

TEST_F(Destructor, tries_again_when_it_was_refused) {
  mine.line->script(Verb::release, Fault::refuse(), 5);
  {
    const auto lease = mine.take("orders");
  }
  advance(2s);
  EXPECT_TRUE(is_free("orders"));
  EXPECT_EQ(mine.line->count(Verb::release), 6U);
}

TEST_F(Destructor, renews_no_more_even_while_it_cannot_give_back) {
  auto lease = std::make_optional(mine.take("orders", {.ttl = 3s}));
  mine.line->script(Verb::release, Fault::refuse(), 1000);
  lease.reset();
  advance(60s);
  EXPECT_EQ(mine.line->count(Verb::renew), 0U);
  EXPECT_TRUE(is_free("orders"));
}

TEST_F(Destructor, goes_on_for_as_long_as_an_extended_lease_may_last) {
  auto lease = std::make_optional(mine.take("orders", {.ttl = 60s}));
  value_of(lease->extend(1s));
  mine.line->pause();
  lease.reset();
  advance(10s);
  EXPECT_EQ(holders("orders"), 1U);
  mine.line->resume();
  advance(2s);
  EXPECT_TRUE(is_free("orders")) << "a renewal never shortens, so 60 s were still to be given back";
}

TEST_F(Destructor, of_a_detached_lease_does_nothing) {
  (void)mine.take("orders", {.ttl = 10s}).detach();
  EXPECT_EQ(mine.line->count(Verb::release), 0U);
  EXPECT_EQ(holders("orders"), 1U);
  advance(9s);
  EXPECT_EQ(mine.line->count(Verb::renew), 0U);
  EXPECT_EQ(holders("orders"), 1U);
  advance(1s);
  EXPECT_TRUE(is_free("orders"));
}

TEST_F(Destructor, over_a_slow_line_sends_one_release) {
  auto lease = std::make_optional(mine.take("orders", {.ttl = 30s}));
  mine.line->script(Verb::release, Fault::delay_reply(200ms), 5);
  lease.reset();
  EXPECT_TRUE(is_free("orders"));
  advance(5s);
  EXPECT_EQ(mine.line->count(Verb::release), 1U);
}

TEST_F(Destructor, of_the_client_leaves_its_leases_alive) {
  std::optional<Lease> lease;
  {
    auto short_lived = another_client();
    lease = short_lived.take("orders", {.ttl = 3s});
  }
  advance(60s);
  EXPECT_TRUE(lease->valid());
  lease.reset();
  EXPECT_TRUE(is_free("orders"));
}

TEST_F(Destructor, of_the_client_does_not_stop_the_cleaning_up) {
  {
    auto short_lived = another_client();
    auto lease = std::make_optional(short_lived.take("orders", {.ttl = 30s}));
    short_lived.line->script(Verb::release, Fault::refuse(), 3);
    lease.reset();
  }
  advance(2s);
  EXPECT_TRUE(is_free("orders"));
}

}  // namespace
}  // namespace holdfast::test
