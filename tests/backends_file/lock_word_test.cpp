// SPDX-License-Identifier: Apache-2.0
#include "backends/file/lock_word.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace holdfast::test {

namespace {

using namespace std::chrono_literals;
using backends::file::dead_holder;
using backends::file::LockWord;
using backends::file::max_open_processes;
using backends::file::nobody;
using backends::file::ProcessNumber;

class TheLockWord : public ::testing::Test {
 protected:
  LockWord word_{};
  const ProcessNumber anna_ = ProcessNumber::make(3, 17);
  const ProcessNumber ben_ = ProcessNumber::make(4, 17);
};

TEST(TheProcessNumber, tells_its_index_and_is_never_that_of_nobody_or_of_the_dead) {
  for (const std::uint32_t index : {0U, 1U, 1000U, max_open_processes - 1}) {
    for (const std::uint64_t random : {0ULL, 1ULL, 32766ULL, 32767ULL, 32768ULL, ~0ULL}) {
      const auto number = ProcessNumber::make(index, random);
      EXPECT_EQ(number.index(), index);
      EXPECT_NE(number, nobody);
      EXPECT_NE(number, dead_holder);
      EXPECT_EQ(number.value >> 31U, 0U);
    }
  }
  EXPECT_EQ(dead_holder.index(), max_open_processes) << "an index that no process gets";
}

TEST_F(TheLockWord, is_free_at_first_and_has_one_holder) {
  EXPECT_EQ(word_.holder(), nobody);
  EXPECT_TRUE(word_.take(anna_));
  EXPECT_EQ(word_.holder(), anna_);
  EXPECT_FALSE(word_.take(ben_));
  EXPECT_FALSE(word_.take(anna_)) << "another thread of the same process is another holder";
  word_.release(anna_);
  EXPECT_EQ(word_.holder(), nobody);
  EXPECT_TRUE(word_.take(ben_));
}

TEST_F(TheLockWord, is_not_released_by_a_process_that_lost_it) {
  ASSERT_TRUE(word_.take(anna_));
  ASSERT_TRUE(word_.take_from(anna_, ben_));
  word_.release(anna_);
  EXPECT_EQ(word_.holder(), ben_);
  word_.release(ben_);
  EXPECT_EQ(word_.holder(), nobody);
}

TEST_F(TheLockWord, is_taken_only_from_the_holder_that_was_seen) {
  ASSERT_TRUE(word_.take(anna_));
  EXPECT_FALSE(word_.take_from(ben_, ben_));
  EXPECT_FALSE(word_.take_from(nobody, ben_));
  EXPECT_FALSE(word_.take_from(ProcessNumber::make(anna_.index(), 18), ben_));
  EXPECT_EQ(word_.holder(), anna_);
  EXPECT_TRUE(word_.take_from(anna_, ben_));
  EXPECT_FALSE(word_.take_from(anna_, ben_));
}

TEST_F(TheLockWord, declares_dead_the_last_user_of_an_index_and_nobody_else) {
  word_.declare_dead(0);
  EXPECT_EQ(word_.holder(), nobody) << "a free word has no index";
  ASSERT_TRUE(word_.take(anna_));
  word_.declare_dead(ben_.index());
  EXPECT_EQ(word_.holder(), anna_);
  EXPECT_TRUE(word_.sleep(anna_, 1ms)) << "somebody sleeps";
  word_.declare_dead(anna_.index());
  EXPECT_EQ(word_.holder(), dead_holder);
  EXPECT_FALSE(word_.take(ben_)) << "what the dead one left has to be put in order first";
  EXPECT_TRUE(word_.take_from(dead_holder, ben_));
}

TEST_F(TheLockWord, says_whether_a_sleep_was_in_vain) {
  EXPECT_FALSE(word_.sleep(anna_, 60s)) << "it is free";
  ASSERT_TRUE(word_.take(anna_));
  EXPECT_FALSE(word_.sleep(ben_, 60s)) << "it is another's";
  EXPECT_TRUE(word_.sleep(anna_, 1ms));
}

TEST_F(TheLockWord, wakes_all_sleepers_one_after_the_other) {
  ASSERT_TRUE(word_.take(anna_));
  std::atomic<int> asleep = 0;
  int inside = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, me = ProcessNumber::make(10U + static_cast<std::uint32_t>(i), 1)] {
      ++asleep;
      while (!word_.take_from(nobody, me)) {
        const auto holder = word_.holder();
        if (holder == nobody) continue;
        EXPECT_FALSE(word_.sleep(holder, 60s)) << "no release woke this one";
      }
      ++inside;
      word_.release(me);
    });
  }
  while (asleep < 4) std::this_thread::yield();
  word_.release(anna_);
  threads.clear();
  EXPECT_EQ(inside, 4);
  EXPECT_EQ(word_.holder(), nobody);
}

TEST_F(TheLockWord, lets_one_thread_in_at_a_time) {
  constexpr int rounds = 20'000;
  int count = 0;  // no atomic: the word is what guards it
  std::vector<std::jthread> threads;
  for (std::uint32_t i = 0; i < 3; ++i) {
    threads.emplace_back([&, me = ProcessNumber::make(i, i)] {
      for (int round = 0; round < rounds; ++round) {
        bool is_inside = word_.take(me);
        while (!is_inside) {
          const auto holder = word_.holder();
          if (holder != nobody) word_.sleep(holder, 1s);
          is_inside = word_.take_from(nobody, me);
        }
        ++count;
        word_.release(me);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(count, 3 * rounds);
}

}  // namespace

}  // namespace holdfast::test
