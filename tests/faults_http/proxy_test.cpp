// SPDX-License-Identifier: Apache-2.0
//
// A proxy that delays, buffers, breaks, and answers for the server.
#include "http_fixture.hpp"

#include <array>

namespace holdfast::faults {

namespace {

constexpr std::string_view any_command = "POST /v1/store/apply";

class Proxy : public HttpFaultsTest {
 protected:
  using Fault = HttpProxy::Fault;

  void spoil(Fault fault, unsigned count) {
    in_trouble([&] {
      proxy.spoil(fault, std::string(any_command), count);
      dice.rest(50ms, 300ms);
      proxy.all_well();
      // What was held is answered late.
      if (fault == Fault::hold) dice.rest(20ms, 50ms);
    });
  }
};

class ProxyFault : public Proxy, public testing::WithParamInterface<HttpProxy::Fault> {};

TEST_P(ProxyFault, again_and_again_breaks_no_promise_and_leaves_nothing_behind) {
  auto load = start_load();
  for (int round = 0; round < 8; ++round) {
    expect_grants(*load, static_cast<std::uint64_t>(dice.between(1, 20)));
    spoil(GetParam(), static_cast<unsigned>(dice.between(1, 6)));
  }
  end_load(*load, 50);
}

std::string name_of(const testing::TestParamInfo<HttpProxy::Fault>& info) {
  constexpr std::array names{"answer_503", "drop_answer", "break_after", "break_before", "hold"};
  return names.at(static_cast<std::size_t>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Each, ProxyFault,
                         testing::Values(HttpProxy::Fault::answer_503,
                                         HttpProxy::Fault::drop_answer,
                                         HttpProxy::Fault::break_after,
                                         HttpProxy::Fault::break_before, HttpProxy::Fault::hold),
                         name_of);

TEST_F(Proxy, that_does_all_of_it_at_random_breaks_no_promise) {
  auto load = start_load({.clients = 3});
  for (int round = 0; round < 20; ++round) {
    expect_grants(*load, static_cast<std::uint64_t>(dice.between(1, 10)));
    const auto what = dice.between(0, 6);
    if (what == 5) {
      in_trouble([&] { proxy.cut(); });
    } else if (what == 6) {
      in_trouble([&] {
        proxy.delay_requests(HttpProxy::Delay(dice.between(0, 300)));
        proxy.delay_replies(HttpProxy::Delay(dice.between(0, 300)));
        dice.rest(100ms, 600ms);
        proxy.all_well();
        dice.rest(600ms, 700ms);
      });
    } else {
      spoil(static_cast<Fault>(what), static_cast<unsigned>(dice.between(1, 4)));
    }
  }
  end_load(*load, 50);
}

}  // namespace

}  // namespace holdfast::faults
