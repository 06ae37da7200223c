// SPDX-License-Identifier: Apache-2.0
#include "backends/memory/shard.hpp"

#include <gtest/gtest.h>

namespace holdfast::backends::memory {
namespace {

using namespace std::chrono_literals;

constexpr model::StoreTime start{100h};

class Nobody final : public model::World {
 public:
  using World::World;
  bool reachable(model::ProcessId) override { return true; }
};

class ShardTest : public testing::Test {
 public:
  model::LockOutcome apply(const std::string& name, model::LockCommand command,
                           model::StoreTime now) {
    Nobody world(now, 0, fences);
    return shard.apply(HashedName(name), command, world);
  }
  void take(const std::string& name, Micros ttl, model::StoreTime now) {
    model::Acquire verb{
        .owner = OwnerId::make("anna").value(), .request = model::RequestId{++request}, .ttl = ttl};
    apply(name, {.spec = {}, .verb = std::move(verb)}, now);
  }
  // What is in memory, expired or not: seen from the past, nothing has expired.
  std::size_t kept() const {
    std::vector<LockView> out;
    shard.list({}, {}, 1'000'000, model::StoreTime{}, out);
    return out.size();
  }

  Shard shard;
  model::FenceCounter fences;
  std::uint64_t request = 0;
};

TEST_F(ShardTest, a_released_name_is_forgotten_at_once) {
  take("a", 10s, start);
  EXPECT_EQ(kept(), 1U);
  apply("a", {.spec = {}, .verb = model::Release{OwnerId::make("anna").value(), {}}}, start);
  EXPECT_EQ(kept(), 0U);
}

TEST_F(ShardTest, questions_about_unknown_names_leave_nothing) {
  apply("a", {.spec = {}, .verb = model::Inspect{}}, start);
  apply("b", {.spec = {}, .verb = model::ForceRelease{}}, start);
  apply("c", {.spec = {}, .verb = model::Renew{OwnerId::make("anna").value(), {}, 10s}}, start);
  EXPECT_EQ(kept(), 0U);
}

// Leases that ended without anybody asking again: new names push them out.
TEST_F(ShardTest, expired_names_vanish_without_anybody_asking_for_them) {
  for (int i = 0; i < 10'000; ++i) take("old-" + std::to_string(i), 1s, start);
  EXPECT_EQ(kept(), 10'000U);
  for (int i = 0; i < 20'000; ++i) {
    const auto name = "new-" + std::to_string(i);
    take(name, 1s, start + 1h);
    apply(name, {.spec = {}, .verb = model::Release{OwnerId::make("anna").value(), {}}},
          start + 1h);
  }
  EXPECT_LT(kept(), 100U);
}

TEST_F(ShardTest, names_that_are_taken_and_left_to_expire_for_ever_do_not_pile_up) {
  std::size_t most = 0;
  for (int i = 0; i < 60'000; ++i) {
    take("name-" + std::to_string(i), 20ms, start + std::chrono::milliseconds(i));
    if (i % 1000 == 0) most = std::max(most, kept());
  }
  EXPECT_LT(most, 3'000U);
}

TEST_F(ShardTest, the_sweep_takes_nothing_that_is_alive) {
  for (int i = 0; i < 1'000; ++i) take("alive-" + std::to_string(i), 24h, start);
  for (int i = 0; i < 10'000; ++i) {
    take("passing-" + std::to_string(i), 20ms, start + std::chrono::milliseconds(i));
  }
  std::vector<LockView> alive;
  shard.list("alive-", {}, 10'000, start + 10s, alive);
  EXPECT_EQ(alive.size(), 1'000U);
}

TEST_F(ShardTest, a_listing_shows_only_what_is_alive_in_order_of_names) {
  take("b", 10s, start);
  take("a", 10s, start);
  take("c", 1s, start);
  std::vector<LockView> out;
  EXPECT_FALSE(shard.list({}, {}, 10, start + 5s, out));
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0].name, "a");
  EXPECT_EQ(out[1].name, "b");
  out.clear();
  EXPECT_TRUE(shard.list({}, {}, 1, start + 5s, out));
  EXPECT_EQ(out.size(), 1U);
}

}  // namespace
}  // namespace holdfast::backends::memory
