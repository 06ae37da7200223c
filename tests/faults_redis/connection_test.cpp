// SPDX-License-Identifier: Apache-2.0
//
// The server forgets its scripts, hangs up or makes everybody wait, and the line to it goes bad.
#include "faults_redis/faults_fixture.hpp"
#include "faults_redis/trouble.hpp"

#include <gmock/gmock.h>

namespace holdfast::faults {

namespace {

class Connections : public FaultsTest {
 protected:
  void strike_for(ServerFault fault, Micros time, Micros between) {
    test::RawRedis raw(server);
    const Time end = log.now() + std::chrono::nanoseconds(time).count();
    while (log.now() < end) {
      strike(raw, fault, log, dice);
      dice.rest(0us, between);
    }
  }
};

TEST_F(Connections, whose_scripts_are_flushed_every_few_ms_go_on_as_before) {
  auto load = start_load();
  test::RawRedis raw(server);
  int flushes = 0;
  EXPECT_TRUE(eventually([&] {
    EXPECT_EQ(raw.text({"SCRIPT", "FLUSH"}), "OK");
    return ++flushes >= 200 && load->grants() >= 40;
  }));
  end_load(*load);
}

TEST_F(Connections, that_the_server_kills_again_and_again_are_made_anew) {
  auto load = start_load();
  strike_for(ServerFault::kill_normal, 1s, 60ms);
  strike_for(ServerFault::kill_pubsub, 1s, 60ms);
  end_load(*load, 20);
}

TEST_F(Connections, that_the_server_makes_wait_break_no_promise) {
  auto load = start_load();
  strike_for(ServerFault::pause, 1s, 100ms);
  strike_for(ServerFault::pause_writes, 1s, 100ms);
  end_load(*load, 50);
}

TEST_F(Connections,
       to_a_server_that_an_operator_empties_break_no_promise_but_the_one_about_its_data) {
  auto load = start_load();
  strike_for(ServerFault::flush_all, 1s, 200ms);
  end_load(*load, 50);
}

TEST_F(Connections, of_a_holder_that_are_killed_do_not_cost_it_its_lease) {
  Caller caller(must_open(), log, 1);
  auto hold = caller.acquire({.lock = {.name = 1}, .ttl = 20s, .renew_every = 50ms});
  ASSERT_TRUE(hold);
  test::RawRedis raw(server);
  for (int i = 0; i < 15; ++i) {
    raw.text({"CLIENT", "KILL", "TYPE", i % 2 == 0 ? "normal" : "pubsub"});
    // It is renewed all the same.
    const Time before = hold->until;
    EXPECT_TRUE(eventually([&] { return caller.look(*hold) && hold->until > before; }));
    EXPECT_TRUE(hold->lease.valid());
  }
  EXPECT_EQ(caller.release(*hold), Released::released);
}

class BadLine : public FaultsTest, public testing::WithParamInterface<LineFault> {
 public:
  test::FaultProxy proxy{server.port()};
  std::string url() const { return "redis://127.0.0.1:" + std::to_string(proxy.port()); }
};

TEST_P(BadLine, breaks_no_promise) {
  // One client has a good line, and wants the same locks.
  auto load = start_load({.urls = {url(), server.url()}, .clients = 3, .threads = 3});
  const Time end = log.now() + 800 * millisecond;
  while (log.now() < end) {
    strike(proxy, GetParam(), log, dice);
    dice.rest(0us, 200ms);
  }
  end_load(*load, 20);
}

const char* name_of(LineFault fault) {
  switch (fault) {
    case LineFault::cut: return "that_is_cut";
    case LineFault::end_mid_reply: return "that_ends_within_a_reply";
    case LineFault::halve_reply: return "that_passes_half_a_reply";
    case LineFault::byte_by_byte: return "that_passes_byte_by_byte";
    case LineFault::swallow_replies: return "that_swallows_replies";
    case LineFault::swallow_requests: return "that_swallows_requests";
    case LineFault::delay_requests: return "that_delays_requests";
    case LineFault::delay_replies: return "that_delays_replies";
    case LineFault::stand_still: return "that_stands_still";
    case LineFault::refuse: return "that_refuses_connections";
  }
  return "?";
}

INSTANTIATE_TEST_SUITE_P(OfAnyKind, BadLine,
                         testing::Values(LineFault::cut, LineFault::end_mid_reply,
                                         LineFault::halve_reply, LineFault::byte_by_byte,
                                         LineFault::swallow_replies, LineFault::swallow_requests,
                                         LineFault::delay_requests, LineFault::delay_replies,
                                         LineFault::stand_still, LineFault::refuse),
                         [](const auto& fault) { return name_of(fault.param); });

}  // namespace

}  // namespace holdfast::faults
