// SPDX-License-Identifier: Apache-2.0
#include "simulation/servers/node.hpp"

#include "simulation/line.hpp"

#include <gtest/gtest.h>

namespace holdfast::simulation {
namespace {

// A primary, a replica, and a clock that is moved by hand.
class Nodes : public testing::Test {
 public:
  Nodes() {
    Dice dice(1);
    plan_ = make_plan(StoreKind::replicated, dice);
    plan_.locks = {{LockName::make("orders").value(), model::LockSpec::mutex()}};
    plan_.servers.ahead_us = {0, 0};
    primary_.emplace(now_, plan_, recorder_, 0);
    replica_.emplace(now_, plan_, recorder_, 1);
  }

  Fence grant(Node& node, Server::LoneGrant lone) {
    model::Acquire acquire{.owner = OwnerId::make("owner").value(),
                           .request = model::RequestId{++requests_},
                           .ttl = std::chrono::milliseconds(100)};
    now_ += second;
    const auto reply =
        node.data.apply({.name = plan_.locks[0].name,
                         .command = model::LockCommand{plan_.locks[0].spec, std::move(acquire)}},
                        now_, lone);
    return std::get<model::Granted>(std::get<model::LockOutcome>(reply->outcome)).fence;
  }
  std::shared_ptr<const Change> change() const {
    return std::make_shared<const Change>(
        Change{0, primary_->data.lock(0), primary_->data.last_fence(), {}});
  }

 protected:
  Time now_ = 0;
  Plan plan_;
  Recorder recorder_{now_};
  std::optional<Node> primary_;
  std::optional<Node> replica_;
  std::uint64_t requests_ = 0;
};

TEST_F(Nodes, follow_their_primary_when_what_it_sent_has_arrived) {
  const Fence fence = grant(*primary_, Server::LoneGrant::compares_with_the_clock);
  replica_->expect(change(), now_ + 5 * millisecond);
  replica_->catch_up(now_);
  replica_->settle();
  EXPECT_TRUE(replica_->is_behind());
  EXPECT_TRUE(replica_->data.lock(0).holds.empty());
  replica_->catch_up(now_ + 5 * millisecond);
  replica_->settle();
  EXPECT_FALSE(replica_->is_behind());
  EXPECT_EQ(replica_->data.lock(0).holds.size(), 1U);
  EXPECT_EQ(replica_->data.last_fence(), fence);
}

TEST_F(Nodes, count_only_who_subscribed_at_them) {
  primary_->subscribers.push_back({.process = 3, .connection = 1});
  const model::ProcessId address{std::uint64_t{3} << 40};
  EXPECT_TRUE(primary_->hears(address));
  EXPECT_FALSE(replica_->hears(address));
  primary_->unsubscribe({.process = 3, .connection = 2});
  EXPECT_TRUE(primary_->hears(address)) << "another connection of the same process";
  primary_->restart(now_ + second);
  EXPECT_FALSE(primary_->hears(address));
}

TEST_F(Nodes, mint_a_lone_fence_without_a_look_at_the_clock_and_are_raised_to_it) {
  const Fence first = grant(*primary_, Server::LoneGrant::compares_with_the_clock);
  EXPECT_EQ(grant(*primary_, Server::LoneGrant::only_counts), first + 1);
  EXPECT_GT(grant(*primary_, Server::LoneGrant::compares_with_the_clock), first + 1'000'000);
  now_ += second;
  primary_->data.raise_fences();
  EXPECT_GT(grant(*primary_, Server::LoneGrant::only_counts), first + 2'000'000);
}

TEST_F(Nodes, have_a_clock_whose_rate_changes_without_a_step) {
  const auto before = primary_->data.clock();
  primary_->data.change_rate(50'000);
  EXPECT_EQ(primary_->data.clock(), before);
  now_ += second;
  EXPECT_EQ(primary_->data.clock() - before, std::chrono::microseconds(1'050'000));
  primary_->data.change_rate(-50'000);
  now_ += second;
  EXPECT_EQ(primary_->data.clock() - before, std::chrono::microseconds(2'000'000));
}

}  // namespace
}  // namespace holdfast::simulation
