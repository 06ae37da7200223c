// SPDX-License-Identifier: Apache-2.0
//
// What Redis has under a lock's name although no Holdfast of this version wrote it.
#include "real_lock.hpp"

#include <gmock/gmock.h>

namespace holdfast::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ForeignKeys : public RealLock {
 protected:
  // Whatever is asked, the answer is this error and nothing changes.
  void expect_refused_with(std::string_view error) {
    const auto before = contents();
    const Ask wait{.owner = "ann", .wait = true};
    const Ask upgrade{.owner = "ann", .request = 2, .wait = true, .converts = 1};
    for (const auto& command :
         {to_acquire({.owner = "ann"}), to_acquire(wait), to_acquire(upgrade), to_renew("ann"),
          to_release("ann"), to_release("ann", 0), to_force()}) {
      const auto outcome = ask(command);
      ASSERT_FALSE(outcome.has_value()) << kind_of(*outcome);
      EXPECT_THAT(outcome.error().message, HasSubstr(error));
    }
    EXPECT_FALSE(ask({spec_, model::Inspect{}}).has_value());
    EXPECT_EQ(contents(), before);
  }
};

TEST_F(ForeignKeys, a_lock_of_a_newer_format_is_left_alone) {
  redis_.call({"SET", key(), "3what it means will be known then"});
  redis_.call({"HSET", key() + ":r", "a", "b"});
  expect_refused_with("HFFORMAT");
}

TEST_F(ForeignKeys, a_list_under_the_name_is_left_alone) {
  redis_.call({"RPUSH", key(), "somebody's"});
  expect_refused_with("WRONGTYPE");
}

TEST_F(ForeignKeys, a_hash_under_the_name_is_left_alone) {
  redis_.call({"HSET", key(), "somebody", "else"});
  expect_refused_with("WRONGTYPE");
}

TEST_F(ForeignKeys, a_counter_that_is_none_takes_no_lock_away) {
  acquire({.owner = "ann"});
  redis_.call({"DEL", std::string(backends::redis::counter_key)});
  redis_.call({"RPUSH", std::string(backends::redis::counter_key), "not a number"});
  EXPECT_FALSE(ask(to_acquire({.owner = "ben", .wait = true})).has_value());
  EXPECT_THAT(holders(), ElementsAre("ann"));
  EXPECT_TRUE(std::holds_alternative<model::Granted>(renew("ann")));
}

TEST_F(ForeignKeys, a_lock_that_an_operator_deleted_is_free_and_its_queue_is_forgotten) {
  acquire({.owner = "ann"});
  acquire({.owner = "ben", .wait = true});
  redis_.call({"DEL", key()});
  granted(acquire({.owner = "cid"}));
  EXPECT_THAT(holders(), ElementsAre("cid"));
  queued(acquire({.owner = "dan", .wait = true}));
  EXPECT_THAT(waiters(), ElementsAre("dan"));
  release("dan");
  release("cid");
  EXPECT_THAT(keys(), only_counter());
}

TEST_F(ForeignKeys, a_lock_that_an_operator_lets_expire_is_free_and_its_queue_is_forgotten) {
  acquire({.owner = "ann"});
  acquire({.owner = "ben", .wait = true});
  redis_.call({"PEXPIRE", key(), "0"});
  EXPECT_TRUE(std::holds_alternative<model::NotHeld>(renew("ann")));
  granted(acquire({.owner = "cid", .wait = true}));
  release("cid");
  EXPECT_FALSE(redis_.integer({"EXISTS", key()}));
  // What lay beside it goes by its own ttl.
  EXPECT_GT(redis_.integer({"PTTL", key() + ":r"}), 0);
  EXPECT_GT(redis_.integer({"PTTL", key() + ":z"}), 0);
}

TEST_F(ForeignKeys, a_lock_of_which_one_key_was_evicted_is_free) {
  for (const auto* lost : {":r", ":z"}) {
    acquire({.owner = "ann"});
    acquire({.owner = "ben", .wait = true});
    redis_.call({"DEL", key() + lost});
    EXPECT_TRUE(std::holds_alternative<model::NotHeld>(renew("ann")));
    granted(acquire({.owner = "cid"}));
    EXPECT_THAT(holders(), ElementsAre("cid"));
    release("cid");
    EXPECT_THAT(keys(), only_counter());
  }
}

}  // namespace
}  // namespace holdfast::test
