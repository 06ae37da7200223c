// SPDX-License-Identifier: Apache-2.0
//
// Threads against one store, by its own commands. What is protected is deliberately not atomic, so
// that two holders at once are also a data race for the thread sanitizer.
#include "in_threads.hpp"
#include "store_contract.hpp"

#include <array>
#include <atomic>

namespace holdfast::test {

namespace {

std::string owner_of_thread(int thread) { return "thread-" + std::to_string(thread); }
std::uint64_t request_of(int thread, int round) {
  return static_cast<std::uint64_t>(thread) * 1'000'000 + static_cast<std::uint64_t>(round) + 1;
}

}  // namespace

TEST_P(StoreContract, no_increment_under_a_mutex_is_lost_by_those_who_try) {
  constexpr int rounds = 100;
  long counter = 0;
  in_threads([&](int thread) {
    const auto owner = owner_of_thread(thread);
    for (int round = 0; round < rounds; ++round) {
      const Ask ask{.owner = owner, .request = request_of(thread, round)};
      while (kind_of(acquire(ask)) != "Granted") std::this_thread::yield();
      ++counter;
      must_be<model::Released>(release(owner, ask.request));
    }
  });
  EXPECT_EQ(counter, threads * rounds);
}

TEST_P(StoreContract, no_increment_under_a_mutex_is_lost_by_those_who_wait) {
  constexpr int rounds = 60;
  long counter = 0;
  Fence last_fence = 0;
  in_threads([&](int thread) {
    const auto owner = owner_of_thread(thread);
    for (int round = 0; round < rounds; ++round) {
      Ask ask{.owner = owner, .request = request_of(thread, round), .wait = true};
      auto ear =
          store->listen(name_of("orders:42"), owner_named(owner), model::RequestId{ask.request});
      ASSERT_TRUE(ear.has_value());
      ask.process = static_cast<std::uint64_t>((*ear)->process());
      std::optional<model::Granted> grant;
      while (!grant) {
        QueuedAsk waiter{ask, std::move(*ear)};
        const auto outcome = ask_again(waiter);
        if (const auto* now = std::get_if<model::Granted>(&outcome)) {
          grant = *now;
        } else {
          waiter.ask.place = queued(outcome).place;
          grant = await_turn(waiter, 200ms);
        }
        ask = waiter.ask;
        *ear = std::move(waiter.ear);
      }
      ++counter;
      EXPECT_GT(grant->fence, last_fence);
      last_fence = grant->fence;
      must_be<model::Released>(release(owner, ask.request));
    }
  });
  EXPECT_EQ(counter, threads * rounds);
  EXPECT_TRUE(names_listed("").empty());
}

TEST_P(StoreContract, never_more_permits_are_out_than_there_are) {
  spec = Spec::semaphore(3);
  if (const auto reason = why_not(spec); !reason.empty()) GTEST_SKIP() << reason;
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  in_threads([&](int thread) {
    const auto owner = owner_of_thread(thread);
    const auto permits = static_cast<std::uint32_t>(1 + thread % 2);
    for (int round = 0; round < 40; ++round) {
      const Ask ask{.owner = owner, .request = request_of(thread, round), .permits = permits};
      while (kind_of(acquire(ask)) != "Granted") std::this_thread::yield();
      const int now = inside += static_cast<int>(permits);
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      inside -= static_cast<int>(permits);
      must_be<model::Released>(release(owner, ask.request));
    }
  });
  EXPECT_LE(most, 3);
}

TEST_P(StoreContract, a_writer_never_meets_a_reader) {
  spec = Spec::read_write();
  std::array<long, 2> pair{};
  in_threads([&](int thread) {
    const auto owner = owner_of_thread(thread);
    const bool writes = thread % 2 == 0;
    for (int round = 0; round < 40; ++round) {
      const Ask ask{.owner = owner,
                    .request = request_of(thread, round),
                    .permits = writes ? all_permits : 1};
      while (kind_of(acquire(ask)) != "Granted") std::this_thread::yield();
      if (writes) {
        ++pair[0];
        ++pair[1];
      } else {
        EXPECT_EQ(pair[0], pair[1]);
      }
      must_be<model::Released>(release(owner, ask.request));
    }
  });
  EXPECT_EQ(pair[0], pair[1]);
}

// Two names shared a stripe, and one release was lost:
// docs/incidents.md#spring-integration-two-names-one-local-lock.
TEST_P(StoreContract, many_names_at_once_do_not_disturb_each_other) {
  constexpr int names = 60;
  in_threads([&](int thread) {
    const auto owner = owner_of_thread(thread);
    for (int i = 0; i < names; ++i) {
      const auto name = owner + "/" + std::to_string(i);
      granted(acquire({.owner = owner}, name));
    }
    for (int i = 0; i < names; ++i) {
      const auto name = owner + "/" + std::to_string(i);
      busy(acquire({.owner = "somebody else"}, name));
      must_be<model::Released>(release(owner, 1, name));
    }
  });
  EXPECT_TRUE(names_listed("").empty());
}

TEST_P(StoreContract, fences_are_unique_over_threads_and_names) {
  constexpr int rounds = 50;
  std::array<std::vector<Fence>, threads> fences;
  in_threads([&](int thread) {
    const auto owner = owner_of_thread(thread);
    auto& mine = fences[static_cast<std::size_t>(thread)];
    for (int i = 0; i < rounds; ++i) {
      mine.push_back(granted(acquire({.owner = owner}, owner)).fence);
      release(owner, 1, owner);
    }
  });
  std::vector<Fence> all;
  for (const auto& some : fences) {
    EXPECT_TRUE(std::ranges::is_sorted(some));
    all.insert(all.end(), some.begin(), some.end());
  }
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

}  // namespace holdfast::test
