// SPDX-License-Identifier: Apache-2.0
//
// A server that dies, stalls or turns us away.
#include "remote_fixture.hpp"
#include "support/fault_proxy.hpp"

#include <fstream>
#include <future>

namespace holdfast::test {
namespace {

TEST_F(RemoteTest, a_lease_whose_server_is_gone_is_lost_at_its_deadline_and_not_before) {
  auto server = serve();
  auto client = client_at(url_of(*server));
  using Clock = std::chrono::steady_clock;
  constexpr auto ttl = 600ms;
  auto lease = client.mutex("orders:42").acquire({.ttl = ttl});
  ASSERT_TRUE(lease) << lease.error().message;
  std::promise<Clock::time_point> lost_at;
  lease->on_lost([&](const Error&) { lost_at.set_value(Clock::now()); });
  const auto looked_at = Clock::now();
  const auto deadline = looked_at + lease->remaining();
  server.reset();
  const auto gone_at = Clock::now();
  const auto lost = lost_at.get_future().get();
  // A tenth of the ttl is for telling it.
  EXPECT_GE(lost, deadline - ttl / 10 - 1ms);
  EXPECT_LE(lost - gone_at, at_most(ttl));
}

TEST_F(RemoteTest, a_lease_outlives_a_server_that_is_started_again_on_the_same_store) {
  auto server = serve();
  const auto port = port_of(*server);
  auto client = client_at(url_of(port));
  auto lease = client.mutex("orders:42").acquire({.ttl = 60s, .renew_every = 50ms});
  ASSERT_TRUE(lease) << lease.error().message;
  server.reset();
  const auto end = [&] { return std::chrono::steady_clock::now() + lease->remaining(); };
  const auto first_end = end();
  server = serve(port);
  EXPECT_TRUE(eventually([&] { return end() > first_end + 200ms; })) << "it is not renewed";
  EXPECT_FALSE(lease->lost().stop_requested());
  EXPECT_TRUE(lease->release());
}

TEST_F(RemoteTest, a_lease_that_a_restarted_server_has_forgotten_is_lost_at_the_next_contact) {
  auto server = serve();
  const auto port = port_of(*server);
  auto client = client_at(url_of(port));
  auto lease = client.mutex("orders:42").acquire({.ttl = 60s});
  ASSERT_TRUE(lease) << lease.error().message;
  server.reset();
  store = backends::memory::shared_memory_store((folder.path() / "another").string(), runtime);
  server = serve(port);
  ASSERT_TRUE(eventually([&] { return client.inspect("something else").has_value(); }));
  EXPECT_TRUE(eventually([&] { return lease->lost().stop_requested(); }));
}

TEST_F(RemoteTest, a_waiter_goes_on_when_its_server_is_started_again) {
  auto server = serve();
  const auto port = port_of(*server);
  auto holder = client_at(url_of(port));
  auto waiter = client_at(url_of(port));
  auto held = holder.mutex("orders:42").acquire({.ttl = 30s});
  ASSERT_TRUE(held) << held.error().message;
  auto waiting = std::async(std::launch::async, [&] {
    return waiter.mutex("orders:42").acquire({.ttl = 30s, .wait = 60s});
  });
  ASSERT_TRUE(eventually([&] {
    const auto seen = holder.inspect("orders:42");
    return seen && seen->waiters.size() == 1;
  }));
  server.reset();
  server = serve(port);
  ASSERT_TRUE(eventually([&] {
    const auto seen = waiter.inspect("orders:42");
    return seen && seen->waiters.size() == 1;
  }));
  EXPECT_EQ(waiting.wait_for(0s), std::future_status::timeout);
  EXPECT_TRUE(held->release());
  const auto won = waiting.get();
  EXPECT_TRUE(won) << won.error().message;
}

TEST_F(RemoteTest, two_servers_on_one_store_are_one) {
  const auto one = serve();
  const auto other = serve();
  auto holder = client_at(url_of(*one));
  auto waiter = client_at(url_of(*other));
  auto held = holder.mutex("orders:42").acquire({.ttl = 30s});
  ASSERT_TRUE(held) << held.error().message;
  EXPECT_EQ(waiter.mutex("orders:42").acquire({.ttl = 30s}).error().code, Errc::busy);
  auto waiting = std::async(std::launch::async, [&] {
    return waiter.mutex("orders:42").acquire({.ttl = 30s, .wait = 60s});
  });
  ASSERT_TRUE(eventually([&] { return holder.inspect("orders:42")->waiters.size() == 1; }));
  const auto released = std::chrono::steady_clock::now();
  EXPECT_TRUE(held->release());
  const auto won = waiting.get();
  ASSERT_TRUE(won) << won.error().message;
  EXPECT_GT(won->fence(), held->fence());
  // By a message: the back-stop would have taken longer.
  EXPECT_LT(std::chrono::steady_clock::now() - released, at_most(200ms));
}

TEST_F(RemoteTest, a_stalled_server_costs_a_caller_its_deadline_and_no_more) {
  const auto server = serve();
  FaultProxy proxy(port_of(*server));
  auto client = client_at(url_of(proxy.port()));
  auto orders = client.mutex("orders:42");
  ASSERT_TRUE(orders.acquire({.ttl = 30s})->release());
  proxy.pause();
  const auto began = std::chrono::steady_clock::now();
  const auto lease = orders.acquire({.ttl = 30s});
  ASSERT_FALSE(lease);
  EXPECT_TRUE(lease.error().code == Errc::outcome_unknown ||
              lease.error().code == Errc::unavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - began, at_most(2s));
  proxy.resume();
  // What the stalled command left behind is taken back.
  EXPECT_TRUE(eventually([&] { return orders.acquire({.ttl = 30s}).has_value(); }));
}

// The connection is one that was used before, which other commands would be sent again over.
TEST_F(RemoteTest, a_hit_whose_answer_is_lost_is_told_as_such_and_not_counted_twice) {
  const auto server = serve();
  FaultProxy proxy(port_of(*server));
  backends::remote::Options options;
  options.origin.port = proxy.port();
  const auto remote = backends::remote::open_remote_store(std::move(options), runtime);
  ASSERT_TRUE(remote) << remote.error().message;
  using RateVerb = model::RateCommand::Verb;
  const auto ask = [&](RateVerb verb) {
    const model::RateCommand command{verb, {.limit = 10, .window = 1h}};
    store::Request request{.name = LockName::make("api:sliding:3600000000us").value(),
                           .command = command,
                           .deadline = runtime->now() + 60s};
    return runtime::run_blocking((*remote)->apply(std::move(request)));
  };
  const auto count_of = [](const Result<store::Reply>& reply) {
    return reply ? std::get<RateOutcome>(reply->outcome).count : UINT64_MAX;
  };
  EXPECT_EQ(count_of(ask(RateVerb::check)), 1U);
  proxy.end_after(0, FaultProxy::Ending::reset);
  const auto lost = ask(RateVerb::check);
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, Errc::outcome_unknown);
  proxy.all_well();
  EXPECT_EQ(count_of(ask(RateVerb::peek)), 2U);
  // Whoever only looks may look twice.
  proxy.end_after(0, FaultProxy::Ending::reset);
  EXPECT_EQ(count_of(ask(RateVerb::peek)), 2U);
}

TEST_F(RemoteTest, a_lease_is_never_believed_in_longer_than_the_store_does) {
  const auto server = serve();
  FaultProxy proxy(port_of(*server));
  auto client = client_at(url_of(proxy.port()));
  proxy.delay_replies(150ms);
  const auto before = std::chrono::steady_clock::now();
  auto lease = client.mutex("orders:42").acquire({.ttl = 30s, .renew = false});
  ASSERT_TRUE(lease) << lease.error().message;
  const auto looked_at = std::chrono::steady_clock::now();
  EXPECT_LE(looked_at + lease->remaining(), before + 30s);
}

TEST_F(RemoteTest, a_server_that_is_not_there_is_named) {
  const auto client = open("http://127.0.0.1:1");
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, Errc::unavailable);
  EXPECT_NE(client.error().message.find("http://127.0.0.1:1"), std::string::npos);
}

TEST_F(RemoteTest, a_token_that_the_server_does_not_know_is_named_by_its_file) {
  const auto tokens = (folder.path() / "tokens").string();
  std::ofstream(tokens) << "";
  std::filesystem::permissions(tokens, std::filesystem::perms(0600));
  server::ServerOptions options;
  options.token_file = tokens;
  const auto server = serve(0, options);
  const auto mine = (folder.path() / "mine").string();
  std::ofstream(mine) << "hf_wrong\n";
  const auto client = open(fmt::format("{}?token_file={}", url_of(*server), mine));
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, Errc::unavailable);
  EXPECT_NE(client.error().message.find(mine), std::string::npos) << client.error().message;
  EXPECT_EQ(client.error().message.find("hf_wrong"), std::string::npos);
}

TEST_F(RemoteTest, an_address_with_a_path_is_refused) {
  const auto server = serve();
  auto opened = open(url_of(*server) + "/elsewhere");
  EXPECT_EQ(opened.error().code, Errc::bad_input);
}

TEST_F(RemoteTest, a_socket_file_leads_to_a_server_too) {
  const auto path = (folder.path() / "s").string();
  server::ServerOptions options;
  options.listen = {"unix:" + path};
  auto started = server::Server::start(options, client::make_core(store, runtime));
  ASSERT_TRUE(started) << started.error().message;
  auto client = client_at("http://localhost?socket=" + path);
  auto lease = client.mutex("orders:42").acquire({.ttl = 30s});
  ASSERT_TRUE(lease) << lease.error().message;
  EXPECT_TRUE(lease->release());
}

TEST_F(RemoteTest, the_clocks_of_one_machine_agree) {
  const auto server = serve();
  const auto core = open_core(url_of(*server));
  ASSERT_TRUE(core);
  const auto offset = runtime::run_blocking((*core)->store().clock_offset(runtime->now() + 60s));
  ASSERT_TRUE(offset) << offset.error().message;
  EXPECT_LT(std::chrono::abs(*offset), at_most(1s));
}

}  // namespace
}  // namespace holdfast::test
