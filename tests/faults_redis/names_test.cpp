// SPDX-License-Identifier: Apache-2.0
//
// Many names: nothing of them stays. HOLDFAST_NAMES=100000 for more than the usual 10,000.
#include "faults_redis/faults_fixture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace holdfast::faults {

namespace {

constexpr std::size_t least = 1'000;

std::vector<std::string> many_names() {
  const char* const wanted = std::getenv("HOLDFAST_NAMES");
  // Fewer on a machine that is busy: each of them is renewed every three seconds.
  const auto usual = static_cast<std::size_t>(10'000 / test::time_factor());
  const std::size_t many = wanted ? std::strtoull(wanted, nullptr, 10) : std::max(usual, least);
  std::vector<std::string> names;
  names.reserve(many);
  for (std::size_t i = 0; i < many; ++i) names.push_back(fmt::format("name:{}", i));
  return names;
}

class Names : public FaultsTest {
 protected:
  static constexpr unsigned threads = 4;
  Names() : FaultsTest(many_names()), caller(must_open(), log, 1) {}

  // Each name once, by several threads.
  void for_each_name(const std::function<void(std::size_t)>& work) {
    std::vector<std::jthread> all;
    all.reserve(threads);
    for (unsigned t = 0; t < threads; ++t) {
      all.emplace_back([&, t] {
        for (std::size_t i = t; i < log.names().size(); i += threads) work(i);
      });
    }
  }
  // The leases last, and are renewed often.
  Want want(std::size_t index) const {
    return {.lock = {.name = static_cast<history::NameId>(index + 1)},
            .ttl = 30min,
            .renew_every = renew_every};
  }

 public:
  const Micros renew_every = 3s * std::max<std::size_t>(1, log.names().size() / 10'000);
  Caller caller;
};

TEST_F(Names, that_were_locked_once_leave_nothing_but_the_counter) {
  std::atomic<std::size_t> good = 0;
  for_each_name([&](std::size_t i) {
    eventually([&] {
      auto hold = caller.acquire(want(i));
      if (hold && caller.release(*hold) == Released::released) ++good;
      return hold.has_value();
    });
  });
  EXPECT_EQ(good, log.names().size());
  test::RawRedis raw(server);
  EXPECT_EQ(raw.integer({"DBSIZE"}), 1);
  EXPECT_EQ(raw.integer({"EXISTS", "hf:fence"}), 1);
}

TEST_F(Names, that_are_all_held_at_once_are_all_renewed_and_all_released) {
  std::vector<std::optional<Caller::Hold>> held(log.names().size());
  for_each_name([&](std::size_t i) {
    // A question that is not answered within half a second is given up.
    eventually([&] {
      auto hold = caller.acquire(want(i));
      if (hold) held[i].emplace(std::move(*hold));
      return hold.has_value();
    });
  });
  const auto is_held = [](const auto& hold) { return hold.has_value(); };
  ASSERT_TRUE(std::ranges::all_of(held, is_held));
  test::RawRedis raw(server);
  EXPECT_EQ(raw.integer({"DBSIZE"}), static_cast<long long>(held.size() + 1));
  const auto was_renewed = [&](auto& hold) {
    const Time first = hold->until;
    return caller.look(*hold) && hold->until > first;
  };
  std::size_t renewed = 0;
  EXPECT_TRUE(eventually([&] {
    while (renewed < held.size() && was_renewed(held[renewed])) ++renewed;
    return renewed == held.size();
  }));
  std::atomic<std::size_t> released = 0;
  for_each_name([&](std::size_t i) {
    if (caller.release(*held[i]) == Released::released) ++released;
  });
  EXPECT_EQ(released, held.size());
  EXPECT_EQ(raw.integer({"DBSIZE"}), 1);
}

}  // namespace

}  // namespace holdfast::faults
