// SPDX-License-Identifier: Apache-2.0
//
// What goes wrong in Forrst's own server, and must not here. The numbers are those of the list of
// its bugs in docs/forrst.md; where another file has the test, the table names it.
//
//   1  a loser wipes what is known of the holder BetterThanForrst.a_loser_leaves_the_holder_alone
//   2  a loser with the holder's owner frees the lock
//   BetterThanForrst.a_loser_under_the_same_owner_… 3  the lock is taken before the function is
//   known BetterThanForrst.nothing_is_locked_for_… 4  each extension gets the others' options
//   Extensions.all_of_them_work_together_in_any_order 5  the lock and what is said of it fall apart
//   BetterThanForrst.status_and_release_go_by_the_lock 6  concurrent calls overwrite each other
//   BetterThanForrst.calls_at_once_keep_apart 7  a release may erase the next holder
//   BetterThanForrst.a_late_release_leaves_… 8  bad options are a 500, and unknown scopes good
//   BadInput (each of its cases) 9  anybody may force; no fence, no renewal, polls
//   LockFunctions.force_is_for_administrators,
//                                                     LockFunctions.a_renewal_gives_another_ttl,
//                                                     LockExtension.fences_grow_and_reach_the_function,
//                                                     LockExtension.a_waiter_gets_the_lock_when_it_…
#include "forrst/service_fixture.hpp"

#include <set>
#include <thread>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using forrst::Invocation;
using forrst::Outcome;

class BetterThanForrst : public ForrstService {};

TEST_F(BetterThanForrst, a_loser_leaves_the_holder_alone) {
  ASSERT_TRUE(ask(charge_user({{"auto_release", false}, {"owner", "anna"}})).is_good());
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(ask(charge_user()).code(), "LOCK_ACQUISITION_FAILED");
  }
  const auto status = lock_call("status", {{"key", charge_key}});
  EXPECT_EQ(status.body.at("result").at("owner"), "anna");
  EXPECT_TRUE(lock_call("release", {{"key", charge_key}, {"owner", "anna"}}).is_good());
}

TEST_F(BetterThanForrst, a_loser_under_the_same_owner_leaves_the_holder_alone) {
  ASSERT_TRUE(ask(charge_user({{"auto_release", false}, {"owner", "anna"}})).is_good());
  EXPECT_EQ(ask(charge_user({{"owner", "anna"}})).code(), "LOCK_ACQUISITION_FAILED");
  EXPECT_EQ(ask(charge_user({{"owner", "anna"}, {"block", span(1)}})).code(), "LOCK_TIMEOUT");
  EXPECT_TRUE(is_locked(charge_key));
  EXPECT_EQ(lock_call("status", {{"key", charge_key}}).body.at("result").at("locked"), true);
  EXPECT_TRUE(lock_call("release", {{"key", charge_key}, {"owner", "anna"}}).is_good());
}

TEST_F(BetterThanForrst, nothing_is_locked_for_a_function_that_is_not_there) {
  for (auto question : {charge_user(), charge_user(), charge_user()}) {
    question.function = "payments.refund";
    EXPECT_EQ(ask(question).code(), "FUNCTION_NOT_FOUND");
    question.function = "payments.charge";
    question.version = "7.0.0";
    EXPECT_EQ(ask(question).code(), "VERSION_NOT_FOUND");
    question.version = "1.0.0";
    question.arguments = {};
    EXPECT_EQ(ask(question).code(), "INVALID_ARGUMENTS");
  }
  EXPECT_TRUE(client.list()->locks.empty());
}

TEST_F(BetterThanForrst, a_lock_around_describe_is_released_too) {
  Question question{.function = "urn:cline:forrst:ext:discovery:fn:describe", .arguments = {}};
  EXPECT_TRUE(ask(question.locked({{"key", "user:1"}, {"ttl", span(30)}})).is_good());
  EXPECT_TRUE(client.list()->locks.empty());
}

TEST_F(BetterThanForrst, status_and_release_go_by_the_lock) {
  // Taken by somebody else than a Forrst client: it is a lock all the same.
  const Lease theirs =
      client.mutex("lock:deploy").acquire({.ttl = test::stretched(600ms), .renew = false}).value();
  EXPECT_EQ(lock_call("status", {{"key", "lock:deploy"}}).body.at("result").at("locked"), true);
  EXPECT_TRUE(eventually([&] {
    return lock_call("status", {{"key", "lock:deploy"}}).body.at("result").at("locked") == false;
  }));
  EXPECT_EQ(lock_call("release", {{"key", "lock:deploy"}, {"owner", "x"}}).code(),
            "LOCK_NOT_FOUND");
}

TEST_F(BetterThanForrst, calls_at_once_keep_apart) {
  charge = [](const Invocation& call) -> Outcome {
    std::this_thread::yield();
    return json::object{{"user", call.arguments.at("user_id")}, {"owner", call.lock->owner}};
  };
  std::vector<std::jthread> callers;
  for (int each = 0; each < 8; ++each) {
    callers.emplace_back([this, each] {
      const auto me = std::to_string(each);
      Question question{.arguments = {{"user_id", me}}, .id = "req-" + me};
      question.locked({{"key", "user:" + me}, {"ttl", span(30)}, {"owner", "owner-" + me}});
      for (int round = 0; round < 20; ++round) {
        const auto told = ask(question);
        ASSERT_TRUE(told.is_good()) << told.raw;
        EXPECT_EQ(told.body.at("id").as_string(), question.id);
        EXPECT_EQ(told.body.at("result").at("user").as_string(), me);
        EXPECT_EQ(told.data(lock_urn)->at("owner").as_string(), "owner-" + me);
      }
    });
  }
  callers.clear();
  EXPECT_TRUE(client.list()->locks.empty());
}

TEST_F(BetterThanForrst, a_late_release_leaves_the_next_holder_alone) {
  ASSERT_TRUE(ask(charge_user({{"auto_release", false}, {"owner", "anna"}})).is_good());
  ASSERT_TRUE(client.force_release(charge_key, "test"));
  ASSERT_TRUE(ask(charge_user({{"auto_release", false}, {"owner", "ben"}})).is_good());
  EXPECT_EQ(lock_call("release", {{"key", charge_key}, {"owner", "anna"}}).code(),
            "LOCK_OWNERSHIP_MISMATCH");
  const auto status = lock_call("status", {{"key", charge_key}});
  EXPECT_EQ(status.body.at("result").at("owner"), "ben");
}

}  // namespace
}  // namespace holdfast::test
