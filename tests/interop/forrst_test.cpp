// SPDX-License-Identifier: Apache-2.0
//
// Locks shared with PHP's Forrst server, whose functions look at three texts beside the lock.
#include "forrst_fixture.hpp"

namespace holdfast::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ForrstLock : public ForrstTest {};

TEST_F(ForrstLock, our_texts_are_those_that_php_writes) {
  const auto before = server_time();
  auto lease = lock().acquire({.ttl = 30s, .renew = false, .owner = some_uuid});
  ASSERT_TRUE(is_ok(lease));
  const auto after = server_time();
  EXPECT_EQ(value(), some_uuid);
  EXPECT_EQ(raw.text({"GET", key + ":meta:owner"}),
            R"(s:36:"0f8fad5b-d9cb-469f-a165-70867728950e";)");
  const auto texts = php.texts();
  const auto acquired = carbon_time(php_unserialized(texts[1]));
  const auto expires = carbon_time(php_unserialized(texts[2]));
  EXPECT_EQ(texts[1], php_serialized(carbon(acquired)));
  EXPECT_EQ(texts[2], php_serialized(carbon(expires)));
  EXPECT_GE(acquired, before);
  EXPECT_LE(acquired, after);
  EXPECT_EQ(expires, acquired + 30s);
}

TEST_F(ForrstLock, our_texts_outlive_the_lock_by_ten_seconds) {
  auto lease = lock().acquire({.ttl = 30s, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  const auto [shortest, longest] = ttls_of_texts();
  const auto left = stranger.ttl();
  EXPECT_LE(longest, 40s);
  // The ttl of the lock was read later, so it may be shorter than it was then.
  EXPECT_GE(shortest, left + 10s);
}

TEST_F(ForrstLock, the_length_in_a_text_counts_bytes) {
  auto lease = lock().acquire({.owner = "Größe \"鎖\";"});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_EQ(raw.text({"GET", key + ":meta:owner"}), "s:14:\"Größe \"鎖\";\";");
  EXPECT_EQ(php.status().owner, "Größe \"鎖\";");
}

TEST_F(ForrstLock, their_status_tells_of_our_lock_and_of_its_end) {
  EXPECT_FALSE(php.status().locked);
  auto lease = lock().acquire({.ttl = 600s, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  const auto seen = php.status();
  EXPECT_TRUE(seen.locked);
  EXPECT_EQ(seen.owner, lease->owner().str());
  EXPECT_LE(seen.ttl_remaining, 600s);
  EXPECT_GT(seen.ttl_remaining, 500s);
  EXPECT_EQ(lease->release(), Released::released);
  EXPECT_FALSE(php.status().locked);
  EXPECT_EQ(php.release(seen.owner), "LOCK_NOT_FOUND");
  EXPECT_EQ(keys(), std::set<std::string>{"hf:fence"});
}

TEST_F(ForrstLock, they_release_our_lock_by_its_owner_and_by_no_other) {
  auto lease = lock().acquire({.renew = false});
  ASSERT_TRUE(is_ok(lease));
  const auto before = php.texts();
  EXPECT_EQ(php.release("somebody"), "LOCK_OWNERSHIP_MISMATCH");
  EXPECT_EQ(php.texts(), before);
  EXPECT_EQ(value(), lease->owner().str());
  EXPECT_EQ(php.release(lease->owner().str()), "released");
  EXPECT_EQ(code_of(lease->extend(30s)), "lost");
  EXPECT_EQ(keys(), std::set<std::string>{"hf:fence"});
}

TEST_F(ForrstLock, they_force_our_lock_away_and_the_next_of_ours_has_texts_again) {
  auto lease = lock().acquire({.renew = false});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_EQ(php.force_release(), "released");
  EXPECT_EQ(php.force_release(), "LOCK_NOT_FOUND");
  auto next = lock().acquire();
  ASSERT_TRUE(is_ok(next));
  EXPECT_EQ(php.status().owner, next->owner().str());
  EXPECT_EQ(lease->release(), Released::held_by_another);
  EXPECT_EQ(php.status().owner, next->owner().str());
}

TEST_F(ForrstLock, we_force_their_lock_away_with_its_texts) {
  ASSERT_TRUE(php.acquire("theirs", 60s));
  EXPECT_EQ(client.force_release("orders", "test"), 1U);
  EXPECT_FALSE(php.status().locked);
  EXPECT_EQ(raw.integer({"EXISTS", key}), 0);
  expect_no_texts();
}

TEST_F(ForrstLock, a_renewal_tells_the_new_end_and_keeps_the_beginning) {
  auto lease = lock().acquire({.ttl = 10s, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  const auto before = php.texts();
  ASSERT_TRUE(is_ok(lease->extend(600s)));
  const auto after = php.texts();
  EXPECT_EQ(after[0], before[0]);
  EXPECT_EQ(after[1], before[1]);
  EXPECT_GT(carbon_time(php_unserialized(after[2])),
            carbon_time(php_unserialized(before[2])) + 500s);
  EXPECT_GT(ttls_of_texts().first, 600s);
  EXPECT_LE(ttls_of_texts().second, 610s);
}

TEST_F(ForrstLock, a_hand_over_tells_of_the_next_holder) {
  auto lease = lock().acquire();
  ASSERT_TRUE(is_ok(lease));
  auto turn = start_waiting();
  EXPECT_EQ(php.status().owner, lease->owner().str());
  ASSERT_TRUE(lease->release());
  // Before the next one has said a word.
  const auto told = php.status().owner;
  EXPECT_EQ(told, value());
  const auto [next, at] = turn.get();
  ASSERT_TRUE(is_ok(next));
  EXPECT_EQ(told, next->owner().str());
}

// The lock and its texts in one look, over and over, while they come and go.
TEST_F(ForrstLock, nobody_ever_sees_a_lock_of_ours_without_its_texts_or_texts_without_a_lock) {
  std::atomic<bool> is_over = false;
  std::atomic<int> odd = 0;
  std::atomic<int> looks = 0;
  std::jthread watcher([&] {
    RawRedis eye(shared_server());
    while (!is_over) {
      const auto seen = eye.call(
          {"MGET", key, key + ":meta:owner", key + ":meta:acquired_at", key + ":meta:expires_at"});
      const bool is_held = seen->element[0]->type == REDIS_REPLY_STRING;
      for (std::size_t i = 1; i < seen->elements; ++i) {
        if ((seen->element[i]->type == REDIS_REPLY_STRING) != is_held) ++odd;
      }
      if (is_held && net::resp::text_of(*seen->element[1]) !=
                         php_serialized(net::resp::text_of(*seen->element[0]))) {
        ++odd;
      }
      ++looks;
    }
  });
  for (int i = 0; i < 200 || looks < 200; ++i) {
    auto lease = lock().acquire({.wait = 60s});
    ASSERT_TRUE(is_ok(lease));
    auto turn = std::async(std::launch::async, [lock = lock()]() mutable {
      return lock.acquire({.wait = 60s}).has_value();  // and released at once
    });
    ASSERT_TRUE(lease->release());
    ASSERT_TRUE(turn.get());
  }
  is_over = true;
  watcher.join();
  EXPECT_EQ(odd, 0);
}

TEST_F(ForrstLock, neither_a_list_nor_diagnose_takes_a_text_for_a_lock) {
  auto lease = lock().acquire();
  ASSERT_TRUE(is_ok(lease));
  ForrstServer other(raw, "forrst_lock:theirs");
  ASSERT_TRUE(other.acquire("theirs", 60s));
  EXPECT_THAT(listed(), testing::UnorderedElementsAre("orders", "theirs"));
  for (const auto& each : other.text_keys()) raw.call({"PERSIST", each});
  const auto found = client.diagnose();
  ASSERT_TRUE(is_ok(found));
  EXPECT_THAT(*found, Each(Not(HasSubstr(":meta:"))));
}

TEST_F(ForrstLock, a_name_that_may_be_a_text_is_refused_and_writes_nothing) {
  auto lease = lock().acquire({.ttl = 60s, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  const auto before = php.texts();
  for (const std::string name : {"orders:meta:owner", "orders:meta:", ":meta:x", "a:meta:b:c"}) {
    const auto refused = client.mutex(name).acquire();
    ASSERT_EQ(code_of(refused), "bad_input") << name;
    EXPECT_THAT(refused.error().message, HasSubstr("name must not contain ':meta:'"));
    EXPECT_EQ(code_of(client.inspect(name)), "bad_input") << name;
    EXPECT_EQ(code_of(client.force_release(name, "test")), "bad_input") << name;
  }
  EXPECT_EQ(php.texts(), before);
  for (const std::string name : {"orders:meta", "meta:orders", "meta"}) {
    EXPECT_TRUE(is_ok(client.mutex(name).acquire())) << name;
  }
}

TEST_F(ForrstLock, texts_of_another_type_hinder_nobody) {
  raw.call({"RPUSH", key + ":meta:owner", "a"});
  raw.call({"HSET", key + ":meta:acquired_at", "a", "b"});
  EXPECT_THAT(listed(), IsEmpty());
  auto lease = lock().acquire();
  ASSERT_TRUE(is_ok(lease));
  EXPECT_EQ(php.status().owner, lease->owner().str());
  raw.call({"DEL", key + ":meta:owner"});
  raw.call({"RPUSH", key + ":meta:owner", "a"});
  EXPECT_EQ(client.inspect("orders")->holders.size(), 1U);
  EXPECT_EQ(lease->release(), Released::released);
  EXPECT_EQ(keys(), std::set<std::string>{"hf:fence"});
}

TEST_F(ForrstLock, an_audited_store_has_the_same_texts) {
  auto audited = open_client("?profile=forrst&audit=5");
  auto lease = audited.mutex("orders").acquire();
  ASSERT_TRUE(is_ok(lease));
  EXPECT_EQ(php.status().owner, lease->owner().str());
  EXPECT_EQ(lease->release(), Released::released);
  expect_no_texts();
  EXPECT_EQ(audited.history("orders")->size(), 2U);
}

}  // namespace
}  // namespace holdfast::test
