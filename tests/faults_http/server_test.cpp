// SPDX-License-Identifier: Apache-2.0
//
// A server that stands still, or is killed and started again on the same store.
#include "http_fixture.hpp"

namespace holdfast::faults {

namespace {

class Server : public HttpFaultsTest {};

TEST_F(Server, that_is_killed_and_started_again_on_its_store_breaks_no_promise) {
  auto load = start_load();
  for (int round = 0; round < 4; ++round) {
    expect_grants(*load, static_cast<std::uint64_t>(dice.between(1, 20)));
    in_trouble([&] {
      server.kill();
      dice.rest(0us, 300ms);
      server.start();
      // The proxy's connections end, and new ones are made.
      dice.rest(50ms, 100ms);
    });
  }
  end_load(*load, 50);
}

TEST_F(Server, that_stands_still_again_and_again_breaks_no_promise) {
  auto load = start_load();
  for (int round = 0; round < 4; ++round) {
    expect_grants(*load, static_cast<std::uint64_t>(dice.between(1, 20)));
    stall(dice.time(100ms, 1500ms));
  }
  end_load(*load, 50);
}

// Eight leases for each of fifty names.
constexpr unsigned names = 50;
constexpr unsigned leases_of_a_name = 8;

std::vector<std::string> many_names() {
  std::vector<std::string> all;
  for (unsigned each = 1; each <= names; ++each) all.push_back("l" + std::to_string(each));
  return all;
}

class ManyLeases : public HttpFaultsTest {
 protected:
  ManyLeases() : HttpFaultsTest(many_names()) {}

  // On several threads: each acquire takes a round trip.
  void take_all(Caller& caller, Micros ttl) {
    std::vector<std::vector<Caller::Hold>> taken(leases_of_a_name);
    std::vector<std::jthread> threads;
    for (auto& mine : taken) {
      threads.emplace_back([&] {
        for (history::NameId name = 1; name <= names; ++name) {
          auto hold = caller.acquire(
              {.lock = {.name = name, .kind = Kind::semaphore, .capacity = leases_of_a_name},
               .permits = 1,
               .ttl = ttl,
               .wait = 20s});
          if (hold) mine.push_back(std::move(*hold));
        }
      });
    }
    threads.clear();
    for (auto& mine : taken) std::ranges::move(mine, std::back_inserter(held));
  }
  std::size_t lost() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        held, [](const Caller::Hold& hold) { return hold.lease.lost().stop_requested(); }));
  }
  void watch(Caller& caller, Micros time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
      for (auto& hold : held) caller.look(hold);
      std::this_thread::sleep_for(20ms);
    }
  }

  std::vector<Caller::Hold> held;
};

TEST_F(ManyLeases, survive_a_stall_of_their_server) {
  constexpr Micros ttl = 10s;
  proxy.delay_requests(10ms);
  proxy.delay_replies(10ms);
  Caller caller(must_open(), log, 1);
  take_all(caller, ttl);
  ASSERT_EQ(held.size(), names * leases_of_a_name);
  watch(caller, 2s);
  stall(900ms);
  watch(caller, 15s);
  EXPECT_EQ(lost(), 0U);
  EXPECT_LE(proxy.counts().connections, 9U) << "no connection was lost";
  proxy.all_well();
  for (auto& hold : held) caller.release(hold);
}

}  // namespace

}  // namespace holdfast::faults
