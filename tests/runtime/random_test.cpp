// SPDX-License-Identifier: Apache-2.0
#include "runtime/random.hpp"

#include "runtime/fork.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <set>
#include <thread>
#include <vector>

namespace holdfast::runtime {
namespace {

// How many numbers of which kind a child saw.
std::array<std::uint64_t, 64> numbers_of_a_child() {
  int ends[2] = {};
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  std::array<std::uint64_t, 64> numbers{};
  if (child == 0) {
    for (auto& number : numbers) number = secure_random();
    _exit(write(ends[1], numbers.data(), sizeof(numbers)) == sizeof(numbers) ? 0 : 1);
  }
  EXPECT_EQ(read(ends[0], numbers.data(), sizeof(numbers)), ssize_t{sizeof(numbers)});
  waitpid(child, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
  return numbers;
}

TEST(Random, does_not_repeat) {
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 10'000; ++i) EXPECT_TRUE(seen.insert(secure_random()).second);
}

TEST(Random, a_forked_child_never_gets_the_numbers_of_its_parent_or_of_its_brothers) {
  std::set<std::uint64_t> seen;
  seen.insert(secure_random());  // the batch in memory is half used at the fork
  for (int i = 0; i < 3; ++i) {
    for (const auto number : numbers_of_a_child()) EXPECT_TRUE(seen.insert(number).second);
  }
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(seen.insert(secure_random()).second);
}

TEST(Random, threads_have_numbers_of_their_own) {
  std::array<std::array<std::uint64_t, 500>, 4> numbers{};
  {
    std::vector<std::jthread> threads;
    threads.reserve(numbers.size());
    for (auto& mine : numbers) {
      threads.emplace_back([&mine] {
        for (auto& number : mine) number = secure_random();
      });
    }
  }
  std::set<std::uint64_t> seen;
  for (const auto& mine : numbers) {
    for (const auto number : mine) EXPECT_TRUE(seen.insert(number).second);
  }
}

TEST(Fork, the_generation_grows_in_the_child_only) {
  const auto before = fork_generation();
  const pid_t child = fork();
  if (child == 0) _exit(fork_generation() == before + 1 ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(fork_generation(), before);
}

TEST(Fork, what_is_per_process_is_made_anew_in_the_child) {
  static PerProcess<int> number;
  number.get() = 7;
  EXPECT_EQ(number.get(), 7);
  const pid_t child = fork();
  if (child == 0) {
    const bool fresh = number.get() == 0;
    number.get() = 8;
    _exit(fresh && number.get() == 8 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(number.get(), 7);
}

}  // namespace
}  // namespace holdfast::runtime
