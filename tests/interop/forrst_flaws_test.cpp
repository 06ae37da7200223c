// SPDX-License-Identifier: Apache-2.0
//
// What goes wrong with the texts of PHP's Forrst server, by its doing or by time, and what we make
// of it: the lock's key has the last word.
#include "forrst_fixture.hpp"

namespace holdfast::test {
namespace {

using testing::IsEmpty;

class ForrstFlaws : public ForrstTest {};

TEST_F(ForrstFlaws, a_loser_of_ours_leaves_the_texts_of_the_holder_alone) {
  ASSERT_TRUE(php.acquire("theirs", 60s));
  const auto before = php.texts();
  const auto longest = ttls_of_texts().second;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(code_of(lock().acquire({.ttl = 600s})), "busy");
  EXPECT_THAT(code_of(lock().acquire({.ttl = 600s, .wait = 30ms})), gave_up());
  EXPECT_FALSE(client.adopt("orders", "somebody"));
  EXPECT_EQ(php.texts(), before);
  EXPECT_LE(ttls_of_texts().second, longest);
  EXPECT_EQ(php.status().owner, "theirs");
  EXPECT_EQ(php.release("theirs"), "released");
}

TEST_F(ForrstFlaws, a_loser_of_ours_leaves_the_texts_of_our_holder_alone) {
  auto lease = lock().acquire({.ttl = 60s, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  const auto before = php.texts();
  const auto longest = ttls_of_texts().second;
  const auto other = open_client();
  EXPECT_EQ(code_of(lock_of(other).acquire({.ttl = 600s})), "busy");
  EXPECT_THAT(code_of(lock_of(other).acquire({.ttl = 600s, .wait = 30ms})), gave_up());
  EXPECT_EQ(php.texts(), before);
  EXPECT_LE(ttls_of_texts().second, longest);
}

TEST_F(ForrstFlaws, a_loser_of_theirs_wipes_our_texts_and_not_our_lock) {
  auto lease = lock().acquire({.ttl = 60s, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  const auto before = php.texts();
  EXPECT_FALSE(php.acquire("loser", 60s));
  expect_no_texts();
  EXPECT_EQ(value(), lease->owner().str());
  EXPECT_FALSE(CacheLock(raw, key, "another").get(60s));
  EXPECT_EQ(client.inspect("orders")->holders.at(0).fence, lease->fence());
  expect_no_texts();  // looking changes nothing
  ASSERT_TRUE(is_ok(lease->extend(60s)));
  EXPECT_EQ(php.texts()[0], before[0]);
  EXPECT_EQ(php.texts()[1], before[1]) << "it is held since then, not since it was told again";
  EXPECT_EQ(lease->release(), Released::released);
  EXPECT_EQ(keys(), std::set<std::string>{"hf:fence"});
}

TEST_F(ForrstFlaws, whoever_of_ours_comes_by_writes_our_texts_again) {
  auto lease = lock().acquire({.ttl = 60s, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  const auto before = php.texts();
  EXPECT_FALSE(php.acquire("loser", 60s));
  EXPECT_EQ(code_of(lock_of(open_client()).acquire({.ttl = 600s})), "busy");
  EXPECT_EQ(php.texts()[0], before[0]);
  EXPECT_EQ(php.texts()[1], before[1]);
  EXPECT_LE(php.status().ttl_remaining, 61s);
  EXPECT_LE(ttls_of_texts().second, 70s);
}

TEST_F(ForrstFlaws, a_late_release_of_ours_leaves_the_texts_of_the_next_holder_alone) {
  auto lease = lock().acquire({.ttl = 60s, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  raw.call({"DEL", key});  // as the end of its ttl
  ASSERT_TRUE(php.acquire("theirs", 60s));
  const auto before = php.texts();
  EXPECT_EQ(lease->release(), Released::held_by_another);
  EXPECT_EQ(php.texts(), before);
  EXPECT_EQ(php.release("theirs"), "released");
}

TEST_F(ForrstFlaws, a_late_renewal_of_ours_leaves_the_texts_of_the_next_holder_alone) {
  auto lease = lock().acquire({.ttl = 60s, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  raw.call({"DEL", key});
  ASSERT_TRUE(php.acquire("theirs", 60s));
  const auto before = php.texts();
  EXPECT_EQ(code_of(lease->extend(600s)), "lost");
  EXPECT_EQ(php.texts(), before);
  EXPECT_LE(ttls_of_texts().second, 70s);
}

TEST_F(ForrstFlaws, a_release_of_theirs_that_comes_late_takes_our_texts_and_not_our_lock) {
  ASSERT_TRUE(php.acquire("theirs", 60s));
  ASSERT_TRUE(CacheLock(raw, key, "theirs").release());
  auto lease = lock().acquire({.ttl = 60s, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  php.clear_texts();  // the rest of their release
  EXPECT_EQ(value(), lease->owner().str());
  ASSERT_TRUE(is_ok(lease->extend(60s)));
  EXPECT_EQ(php.status().owner, lease->owner().str());
}

TEST_F(ForrstFlaws, texts_without_a_lock_are_no_lock) {
  ASSERT_TRUE(php.acquire("theirs", 60s));
  raw.call({"DEL", key});  // expired: for ten seconds their status still says locked
  EXPECT_TRUE(php.status().locked);
  EXPECT_THAT(client.inspect("orders")->holders, IsEmpty());
  EXPECT_THAT(listed(), IsEmpty());
  auto lease = lock().acquire();
  ASSERT_TRUE(is_ok(lease));
  EXPECT_EQ(php.status().owner, lease->owner().str());
}

TEST_F(ForrstFlaws, texts_without_a_lock_are_cleared_away_by_who_comes_by) {
  auto lease = lock().acquire({.ttl = 60s, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  raw.call({"DEL", key});
  ASSERT_TRUE(php.acquire("theirs", 60s));
  raw.call({"DEL", key});
  EXPECT_EQ(lease->release(), Released::already_expired);
  EXPECT_EQ(keys(), std::set<std::string>{"hf:fence"});
}

TEST_F(ForrstFlaws, the_texts_of_one_who_was_too_late_name_nobody) {
  auto lease = lock().acquire({.ttl = 60s, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  // Their lock expired before they wrote these, and ours came in between.
  raw.call({"SETEX", key + ":meta:owner", "70", php_serialized("late")});
  const auto seen = client.inspect("orders");
  ASSERT_EQ(seen->holders.size(), 1U);
  EXPECT_EQ(seen->holders[0].fence, lease->fence());
  ASSERT_TRUE(is_ok(lease->extend(60s)));
  EXPECT_EQ(php.status().owner, lease->owner().str());
  raw.call({"SETEX", key + ":meta:owner", "70", php_serialized("late")});
  EXPECT_EQ(lease->release(), Released::released);
  EXPECT_EQ(keys(), std::set<std::string>{"hf:fence"});
}

TEST_F(ForrstFlaws, a_lock_of_theirs_is_held_since_their_text_says_so) {
  const std::string zones[] = {"+00:00", "Z", ".250000Z"};
  for (const auto& zone : zones) {
    ASSERT_TRUE(php.acquire("theirs", 3600s));
    auto text = carbon(server_time() - 900s);
    text.replace(text.size() - 6, 6, zone);
    say_acquired(text);
    EXPECT_GE(held_for(), 899s) << text;
    EXPECT_LT(held_for(), 1000s) << text;
    // From now on our own state knows of it too.
    EXPECT_EQ(code_of(lock().acquire()), "busy");
    EXPECT_GE(held_for(), 899s) << text;
    EXPECT_LT(held_for(), 1000s) << text;
    ASSERT_EQ(php.release("theirs"), "released");
  }
}

TEST_F(ForrstFlaws, a_text_in_another_zone_says_the_same_time) {
  ASSERT_TRUE(php.acquire("theirs", 3600s));
  auto east = carbon(server_time() - 900s + 2h);
  east.replace(east.size() - 6, 6, "+02:00");
  say_acquired(east);
  EXPECT_GE(held_for(), 900s);
  EXPECT_LT(held_for(), 1000s);
  auto west = carbon(server_time() - 900s - 3h - 30min);
  west.replace(west.size() - 6, 6, "-03:30");
  say_acquired(west);
  EXPECT_GE(held_for(), 900s);
  EXPECT_LT(held_for(), 1000s);
}

TEST_F(ForrstFlaws, a_text_that_comes_after_we_saw_the_lock_is_believed_too) {
  ASSERT_TRUE(CacheLock(raw, key, "4711").get(3600s));
  EXPECT_EQ(code_of(lock().acquire()), "busy");
  EXPECT_LT(held_for(), 600s);
  // A number is not serialised.
  raw.call({"SETEX", key + ":meta:owner", "3610", "4711"});
  raw.call(
      {"SETEX", key + ":meta:acquired_at", "3610", php_serialized(carbon(server_time() - 900s))});
  EXPECT_GE(held_for(), 900s);
  EXPECT_EQ(code_of(lock().acquire()), "busy");
  raw.call({"DEL", key + ":meta:acquired_at"});
  EXPECT_GE(held_for(), 900s) << "our own state has it";
}

TEST_F(ForrstFlaws, a_text_that_cannot_be_true_is_not_believed) {
  ASSERT_TRUE(php.acquire("theirs", 3600s));
  const auto long_ago = carbon(server_time() - 900s);
  for (const std::string& text :
       {std::string("yesterday"), std::string(), carbon(server_time() + 900s), long_ago + "x",
        std::string("2024-03-15T10:00:00"), std::string(5000, '9')}) {
    say_acquired(text);
    EXPECT_GE(held_for(), 0s) << text;
    EXPECT_LT(held_for(), 600s) << text;
  }
  raw.call({"SET", key + ":meta:acquired_at", "s:99:\"" + long_ago + "\";"});
  EXPECT_LT(held_for(), 600s);
  say_acquired(long_ago);
  EXPECT_GE(held_for(), 900s);
  raw.call({"SET", key + ":meta:owner", php_serialized("another"), "KEEPTTL"});
  EXPECT_LT(held_for(), 600s) << "it is the text of another";
  EXPECT_GE(held_for(), 0s);
}

TEST_F(ForrstFlaws, a_lock_of_theirs_that_we_extend_keeps_what_they_wrote) {
  ASSERT_TRUE(php.acquire("theirs", 60s));
  auto east = carbon(server_time() - 10s + 2h);
  east.replace(east.size() - 6, 6, "+02:00");
  say_acquired(east);
  const auto before = php.texts();
  auto adopted = client.adopt("orders", "theirs");
  ASSERT_TRUE(is_ok(adopted));
  ASSERT_TRUE(is_ok(adopted->extend(600s)));
  EXPECT_EQ(php.texts()[0], before[0]);
  EXPECT_EQ(php.texts()[1], before[1]);
  EXPECT_GT(php.status().ttl_remaining, 500s);
  EXPECT_GT(ttls_of_texts().first, 600s);
}

TEST_F(ForrstFlaws, a_lock_without_texts_that_we_extend_gets_none) {
  ASSERT_TRUE(CacheLock(raw, key, "plain").get(60s));
  auto adopted = client.adopt("orders", "plain");
  ASSERT_TRUE(is_ok(adopted));
  ASSERT_TRUE(is_ok(adopted->extend(600s)));
  EXPECT_GT(stranger.ttl(), 590s);
  expect_no_texts();
}

TEST_F(ForrstFlaws, when_they_change_our_ttl_our_texts_follow_with_the_next_step) {
  auto lease = lock().acquire({.ttl = 30s, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  ASSERT_TRUE(CacheLock(raw, key, lease->owner().str()).refresh(3600s));
  EXPECT_EQ(code_of(lock_of(open_client()).acquire()), "busy");
  EXPECT_GT(php.status().ttl_remaining, 3000s);
  EXPECT_GT(ttls_of_texts().first, 3000s);
  ASSERT_TRUE(CacheLock(raw, key, lease->owner().str()).refresh(60s));
  EXPECT_EQ(code_of(lock_of(open_client()).acquire()), "busy");
  EXPECT_LE(php.status().ttl_remaining, 61s);
  EXPECT_LE(ttls_of_texts().second, 71s);
}

}  // namespace
}  // namespace holdfast::test
