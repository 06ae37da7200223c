// SPDX-License-Identifier: Apache-2.0
//
// A proxy between a store and its server: it answers for the server, keeps requests back, breaks.
#include "remote_fixture.hpp"
#include "support/http_proxy.hpp"

#include <future>

namespace holdfast::test {
namespace {

using Fault = HttpProxy::Fault;
constexpr std::string_view an_acquire = R"("verb":"acquire")";
constexpr std::string_view a_release = R"("verb":"release")";
constexpr std::string_view a_renewal = R"("verb":"renew")";

class RemoteBehindProxy : public RemoteTest {
 protected:
  // As somebody sees it who asks the server itself.
  bool is_free(std::string_view name) {
    const auto seen = direct.inspect(name);
    return seen && seen->holders.empty() && seen->waiters.empty();
  }

  ServerPtr server = serve();
  HttpProxy proxy{port_of(*server)};
  Client direct = client_at(url_of(*server));
  Client client = client_at(proxy.url());
};

TEST_F(RemoteBehindProxy, a_503_of_the_proxy_leaves_no_lock_behind) {
  proxy.spoil(Fault::answer_503, std::string(an_acquire));
  const auto lease = client.mutex("orders").acquire({.ttl = 1h});
  ASSERT_FALSE(lease);
  EXPECT_EQ(lease.error().code, Errc::outcome_unknown) << "the proxy may have passed it on";
  EXPECT_TRUE(eventually([&] { return is_free("orders"); }));
}

TEST_F(RemoteBehindProxy, a_503_of_the_proxy_ends_no_release) {
  auto lease = client.mutex("orders").acquire({.ttl = 1h});
  ASSERT_TRUE(lease) << lease.error().message;
  proxy.spoil(Fault::answer_503, std::string(a_release));
  lease = fail(Errc::busy, "");
  EXPECT_TRUE(eventually([&] { return is_free("orders"); }));
}

TEST_F(RemoteBehindProxy, an_acquire_that_is_overtaken_by_its_withdrawal_leaves_no_lock_behind) {
  proxy.spoil(Fault::hold, std::string(an_acquire));
  std::stop_source stop;
  auto asking = std::async(std::launch::async, [&] {
    return client.mutex("orders").acquire({.ttl = 1h}, stop.get_token());
  });
  ASSERT_TRUE(eventually([&] { return proxy.counts().spoiled == 1; }));
  const auto before = proxy.counts().passed_on;
  stop.request_stop();
  EXPECT_FALSE(asking.get());
  // The withdrawal has come through.
  ASSERT_TRUE(eventually([&] { return proxy.counts().passed_on > before; }));
  proxy.let_go();
  ASSERT_TRUE(eventually([&] { return proxy.counts().spoiled_answered == 1; }));
  EXPECT_TRUE(eventually([&] { return is_free("orders"); }));
}

// The connection was given up before the acquire got through.
TEST_F(RemoteBehindProxy, an_acquire_that_comes_after_everything_is_given_back) {
  proxy.spoil(Fault::hold, std::string(an_acquire));
  EXPECT_FALSE(client.mutex("orders").acquire({.ttl = 1h}));
  // Two seconds of silence, and the first of the releases that follow.
  std::this_thread::sleep_for(3s);
  proxy.let_go();
  EXPECT_TRUE(eventually([&] { return proxy.counts().spoiled_answered == 1; }));
  EXPECT_TRUE(eventually([&] { return is_free("orders"); }));
}

TEST_F(RemoteBehindProxy, patience_that_ends_makes_nobody_confirm_anything) {
  const auto core = open_core(proxy.url());
  ASSERT_TRUE(core) << core.error().message;
  const Client mine(*core);
  auto lease = mine.mutex("orders").acquire({.ttl = 1h});
  ASSERT_TRUE(lease) << lease.error().message;
  proxy.spoil(Fault::hold, std::string(an_acquire));
  EXPECT_FALSE(mine.mutex("others").acquire({.ttl = 1h}));
  proxy.let_go();
  EXPECT_TRUE(eventually([&] { return mine.mutex("third").acquire({.ttl = 1h}).has_value(); }));
  EXPECT_EQ((*core)->store_changes, 0U);
  EXPECT_TRUE(lease->release());
}

TEST_F(RemoteBehindProxy, a_connection_that_breaks_makes_every_lease_be_confirmed) {
  const auto core = open_core(proxy.url());
  ASSERT_TRUE(core) << core.error().message;
  const Client mine(*core);
  auto lease = mine.mutex("orders").acquire({.ttl = 1h});
  ASSERT_TRUE(lease) << lease.error().message;
  proxy.spoil(Fault::break_after, std::string(an_acquire), 2);
  EXPECT_TRUE(eventually([&] { return mine.mutex("others").acquire({.ttl = 1h}).has_value(); }));
  EXPECT_TRUE(eventually([&] { return (*core)->store_changes > 0; }));
  EXPECT_TRUE(lease->release());
}

TEST_F(RemoteBehindProxy, a_release_over_a_slow_line_costs_no_connection) {
  proxy.delay_replies(80ms);
  ASSERT_TRUE(client.mutex("warm").acquire({.ttl = 1h, .wait = 20s}));
  ASSERT_TRUE(eventually([&] { return is_free("warm"); }));
  for (unsigned each = 0; each < 10; ++each) {
    const auto lease = client.mutex("orders").acquire({.ttl = 1h, .wait = 20s});
    ASSERT_TRUE(lease) << lease.error().message;
  }
  ASSERT_TRUE(eventually([&] { return is_free("orders"); }));
  EXPECT_LE(proxy.counts().connections, 9U) << "eight for requests, and the stream";
}

}  // namespace
}  // namespace holdfast::test
