// SPDX-License-Identifier: Apache-2.0
//
// Real threads on few names: for ThreadSanitizer, and for a counter that only the lock protects.
#include "client/real_client.hpp"

#include <iostream>
#include <random>

namespace holdfast::test {
namespace {

constexpr int threads = 8;

// A number that is not safe without a lock, and the last fence that was used on it.
struct Guarded {
  std::uint64_t count = 0;
  Fence last = 0;
  // False if the machine was so busy that the lease had ended before it could be used.
  bool touch(const Lease& lease) {
    if (!lease.valid()) return false;
    EXPECT_GT(lease.fence(), last);
    last = lease.fence();
    ++count;
    return true;
  }
};

template <typename Work>
void on_all_threads(std::uint64_t seed, Work work) {
  std::vector<std::jthread> crowd;
  crowd.reserve(threads);
  for (int i = 0; i < threads; ++i) {
    crowd.emplace_back([&work, i, seed] {
      std::mt19937_64 dice(seed + static_cast<std::uint64_t>(i));
      work(dice);
    });
  }
}

std::uint64_t fresh_seed() {
  const auto seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  return seed;
}

// Tries, waits, cancels and every way to let go, on names that share shards: see
// docs/incidents.md#redisson-one-renewal-set-for-all-threads and
// docs/incidents.md#spring-integration-two-names-one-local-lock.
TEST(Stress, threads_that_wait_cancel_and_let_go_in_every_way_count_right) {
  constexpr int names = 3;
  constexpr int rounds = 250;
  const auto client = real_client();
  std::array<Guarded, names> guarded;
  std::array<std::atomic<std::uint64_t>, names> granted{};
  on_all_threads(fresh_seed(), [&](std::mt19937_64& dice) {
    for (int round = 0; round < rounds; ++round) {
      const auto which = dice() % names;
      auto lock = client.mutex("shared-" + std::to_string(which));
      std::stop_source stop;
      std::jthread canceller;
      if (dice() % 8 == 0) canceller = std::jthread([&stop] { stop.request_stop(); });
      const AcquireOptions options{.ttl = 20s,
                                   .wait = dice() % 4 == 0 ? 0us : Duration(dice() % 20'000),
                                   .renew_every = dice() % 2 == 0 ? 1ms : 0ms,
                                   .retry = dice() % 8 == 0};
      auto lease = lock.acquire(options, stop.get_token());
      if (!lease) continue;
      if (guarded[which].touch(*lease)) ++granted[which];
      if (dice() % 3 == 0) value_of(lease->release());
      if (dice() % 3 == 0) (void)lease->lost().stop_requested();
    }
  });
  for (std::size_t i = 0; i < names; ++i) EXPECT_EQ(guarded[i].count, granted[i].load());
  EXPECT_TRUE(eventually([&] { return value_of(client.list()).locks.empty(); }));
}

TEST(Stress, everybody_who_waits_long_enough_is_served) {
  constexpr int rounds = 200;
  const auto client = real_client();
  Guarded guarded;
  std::atomic<std::uint64_t> touched{0};
  on_all_threads(fresh_seed(), [&](std::mt19937_64&) {
    auto lock = client.mutex("one");
    for (int round = 0; round < rounds; ++round) {
      const auto lease = value_of(lock.acquire({.ttl = 20s, .wait = 60s}));
      if (guarded.touch(lease)) ++touched;
    }
  });
  EXPECT_EQ(guarded.count, touched.load());
}

TEST(Stress, awaiting_coroutines_are_resumed_one_at_a_time_and_all_of_them) {
  constexpr int rounds = 20;
  const auto client = real_client();
  Guarded guarded;
  std::atomic<int> finished{0};
  std::atomic<std::uint64_t> touched{0};
  on_all_threads(fresh_seed(), [&](std::mt19937_64& dice) {
    auto lock = client.mutex("one");
    for (int round = 0; round < rounds; ++round) {
      std::stop_source stop;
      runtime::spawn(lock.async_acquire({.ttl = 20s, .wait = 60s}, stop.get_token()),
                     [&](Result<Lease>&& lease) {
                       if (lease && guarded.touch(*lease)) ++touched;
                       lease = fail(Errc::not_held, "");
                       ++finished;
                     });
      if (dice() % 4 == 0) stop.request_stop();
    }
  });
  EXPECT_TRUE(eventually([&] { return finished == threads * rounds; }));
  EXPECT_EQ(guarded.count, touched.load());
  EXPECT_TRUE(eventually([&] { return value_of(client.list()).locks.empty(); }));
}

TEST(Stress, readers_and_writers_and_upgrades_keep_their_word) {
  constexpr int rounds = 120;
  const auto client = real_client();
  std::uint64_t value = 0;
  std::atomic<std::uint64_t> written{0};
  on_all_threads(fresh_seed(), [&](std::mt19937_64& dice) {
    auto lock = client.read_write("page");
    for (int round = 0; round < rounds; ++round) {
      auto lease = dice() % 4 == 0 ? lock.acquire({.ttl = 20s, .wait = 60s})
                                   : lock.acquire_shared({.ttl = 20s, .wait = 60s});
      if (!lease) continue;
      if (dice() % 3 == 0 && lease->upgrade(Duration(dice() % 2'000))) {
        ++value;
        ++written;
        EXPECT_TRUE(lease->downgrade().has_value());
      }
      EXPECT_TRUE(lease->release().has_value());
    }
  });
  const auto alone = value_of(client.read_write("page").acquire({.wait = 10s}));
  EXPECT_EQ(value, written.load());
}

TEST(Stress, one_lease_may_be_used_by_many_threads_at_once) {
  const auto client = real_client();
  auto lease = value_of(client.mutex("one").acquire({.ttl = 20s, .renew_every = 1ms}));
  on_all_threads(fresh_seed(), [&](std::mt19937_64& dice) {
    for (int round = 0; round < 200; ++round) {
      switch (dice() % 5) {
        case 0: EXPECT_TRUE(lease.valid()); break;
        case 1: EXPECT_FALSE(lease.lost().stop_requested()); break;
        case 2: EXPECT_TRUE(lease.extend(20s).has_value()); break;
        case 3: lease.on_lost([](const Error&) {}); break;
        default: EXPECT_GT(lease.fence(), 0U);
      }
    }
  });
  EXPECT_EQ(value_of(lease.release()), Released::released);
}

TEST(Stress, many_releases_of_one_lease_release_once) {
  const auto client = real_client();
  for (int i = 0; i < 20; ++i) {
    auto lease = value_of(client.mutex("one").acquire({.ttl = 20s, .renew_every = 1ms}));
    std::atomic<int> released{0};
    on_all_threads(1, [&](std::mt19937_64&) {
      if (lease.release()) ++released;
    });
    EXPECT_EQ(released, 1);
  }
}

}  // namespace
}  // namespace holdfast::test
