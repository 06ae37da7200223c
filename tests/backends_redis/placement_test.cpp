// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/placement.hpp"

#include <gtest/gtest.h>

namespace holdfast::test {
namespace {

using backends::redis::Placement;
using Told = Placement::Answer;
using Next = Placement::Then;

const Placement::Peer primary{.run_id = "aa"};
const Placement::Peer other{.run_id = "bb"};
const Placement::Peer replica{.run_id = "bb", .is_replica = true};
const Placement::Peer unknown{};

struct PlacementTest : testing::Test {
  void prove(const Placement::Peer& server) {
    placement.connected(server);
    EXPECT_EQ(placement.subscribed(server), Next::ask);
    EXPECT_EQ(placement.answered(placement.question(), Told::somebody), Next::nothing);
    EXPECT_TRUE(placement.is_proven());
  }
  Placement placement;
};

TEST_F(PlacementTest, nothing_is_asked_before_both_connections_are_there) {
  EXPECT_EQ(placement.connected(primary), Next::nothing);
  EXPECT_FALSE(placement.is_settled());
  placement.disconnected();
  EXPECT_EQ(placement.subscribed(primary), Next::nothing);
  EXPECT_EQ(placement.connected(primary), Next::ask);
  EXPECT_FALSE(placement.is_proven());
}

TEST_F(PlacementTest, a_listener_on_the_server_of_the_commands_is_the_proof) { prove(unknown); }

TEST_F(PlacementTest, a_channel_without_a_listener_means_that_the_subscription_is_elsewhere) {
  placement.connected(unknown);
  placement.subscribed(unknown);
  EXPECT_EQ(placement.answered(placement.question(), Told::nobody), Next::subscribe_anew);
  EXPECT_FALSE(placement.is_settled());
  EXPECT_EQ(placement.misplaced(), 1U);
  EXPECT_EQ(placement.subscribed(unknown), Next::ask);
}

TEST_F(PlacementTest, an_answer_says_nothing_of_a_subscription_that_is_being_made) {
  placement.connected(unknown);
  placement.subscribed(unknown);
  EXPECT_EQ(placement.answered(placement.question(), Told::lost), Next::ask_later);
  placement.unsubscribed();
  EXPECT_EQ(placement.answered(placement.question(), Told::nobody), Next::nothing);
  EXPECT_EQ(placement.misplaced_at_first(), 0U);
  EXPECT_EQ(placement.subscribed(unknown), Next::ask);
}

TEST_F(PlacementTest, other_run_ids_need_no_question) {
  placement.connected(primary);
  EXPECT_EQ(placement.subscribed(other), Next::subscribe_anew);
  EXPECT_EQ(placement.subscribed(primary), Next::ask);
}

TEST_F(PlacementTest, a_subscription_on_a_replica_is_dropped_before_there_is_anything_to_compare) {
  EXPECT_EQ(placement.subscribed(replica), Next::subscribe_anew);
  EXPECT_EQ(placement.misplaced_at_first(), 1U);
}

TEST_F(PlacementTest, equal_run_ids_are_no_proof) {
  placement.connected(primary);
  EXPECT_EQ(placement.subscribed(primary), Next::ask);
  EXPECT_FALSE(placement.is_proven());
}

TEST_F(PlacementTest, a_new_command_connection_makes_the_proof_void) {
  prove(primary);
  EXPECT_EQ(placement.connected(primary), Next::ask);
  EXPECT_FALSE(placement.is_proven());
  EXPECT_EQ(placement.connected(other), Next::subscribe_anew);
}

TEST_F(PlacementTest, a_lost_connection_makes_the_proof_void) {
  prove(unknown);
  placement.disconnected();
  EXPECT_FALSE(placement.is_proven());
  EXPECT_EQ(placement.connected(unknown), Next::ask);
  prove(unknown);
  placement.unsubscribed();
  EXPECT_FALSE(placement.is_proven());
}

TEST_F(PlacementTest, the_answer_to_an_older_question_is_not_believed) {
  placement.connected(unknown);
  placement.subscribed(unknown);
  const auto before = placement.question();
  placement.unsubscribed();
  placement.subscribed(unknown);
  EXPECT_EQ(placement.answered(before, Told::somebody), Next::nothing);
  EXPECT_FALSE(placement.is_proven());
  EXPECT_EQ(placement.answered(before, Told::nobody), Next::nothing);
  EXPECT_EQ(placement.misplaced(), 0U);
}

TEST_F(PlacementTest, a_question_without_an_answer_is_asked_again) {
  placement.connected(unknown);
  placement.subscribed(unknown);
  EXPECT_EQ(placement.answered(placement.question(), Told::lost), Next::ask_later);
  EXPECT_EQ(placement.answered(placement.question(), Told::somebody), Next::nothing);
  EXPECT_TRUE(placement.is_proven());
}

TEST_F(PlacementTest, a_user_who_may_not_ask_is_settled_and_believes_no_grants) {
  placement.connected(primary);
  placement.subscribed(primary);
  EXPECT_EQ(placement.answered(placement.question(), Told::refused), Next::nothing);
  EXPECT_TRUE(placement.is_settled());
  EXPECT_FALSE(placement.is_proven());
}

TEST_F(PlacementTest, a_failover_later_does_not_count_as_an_address_of_several_servers) {
  placement.connected(primary);
  placement.subscribed(other);
  prove(primary);
  placement.connected(other);
  EXPECT_EQ(placement.misplaced(), 2U);
  EXPECT_EQ(placement.misplaced_at_first(), 1U);
}

}  // namespace
}  // namespace holdfast::test
