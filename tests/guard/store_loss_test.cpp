// SPDX-License-Identifier: Apache-2.0
//
// What a guard answers when its store does not.
#include "backends/memory/memory_store.hpp"
#include "backends/remote/protocol.hpp"
#include "client/core.hpp"
#include "guard_fixture.hpp"
#include "net/raw_server.hpp"
#include "runtime/runtime.hpp"
#include "support/fault_store.hpp"

#include <boost/json/serialize.hpp>

namespace holdfast::guard {
namespace {

using test::Fault;
using test::FaultStore;
using test::RawPeer;
using test::RawServer;
using test::Verb;

// Before a store in this process, behind a bad line.
class StoreLoss : public GuardTest {
 protected:
  void start_behind_line() {
    upstream = std::make_unique<Upstream>();
    start_with(client::make_core(line, runtime), upstream->url());
  }
  unsigned checks() const { return line->count(Verb::check_fence); }

  std::shared_ptr<runtime::Runtime> runtime = runtime::shared_runtime();
  std::shared_ptr<FaultStore> line = FaultStore::over(
      runtime, [runtime = runtime] { return backends::memory::make_memory_store(runtime); });
};

void expect_unknown(const HttpAnswer& answer) {
  EXPECT_EQ(answer.status, 504) << answer.body;
  EXPECT_EQ(answer.code(), "outcome_unknown");
  EXPECT_TRUE(answer.text("detail").starts_with("nothing was passed on: ")) << answer.body;
}

void expect_unavailable(const HttpAnswer& answer) {
  EXPECT_EQ(answer.status, 503) << answer.body;
  EXPECT_EQ(answer.code(), "unavailable");
  EXPECT_EQ(answer.header("retry-after"), "1");
  EXPECT_TRUE(answer.text("detail").starts_with("nothing was passed on: ")) << answer.body;
}

TEST_F(StoreLoss, a_store_that_was_not_reached_is_unavailable_and_lets_nothing_through) {
  line->script(Verb::check_fence, Fault::refuse());
  start_behind_line();
  expect_unavailable(post("/a", "7"));
  EXPECT_EQ(checks(), 1U) << "the client decides when to try again";
  EXPECT_EQ(upstream->count(), 0U);
  EXPECT_EQ(call({.path = "/a"}).status, 200) << "a read without a fence asks no store";
  EXPECT_EQ(post("/a", "6").status, 200) << "nothing was remembered";
}

TEST_F(StoreLoss, a_check_whose_answer_was_lost_is_repeated_and_its_request_passed_on_once) {
  options.check_timeout = 1min;
  line->script(Verb::check_fence, Fault::lose_reply());
  start_behind_line();
  EXPECT_EQ(post("/a", "7").status, 200);
  EXPECT_EQ(checks(), 2U);
  EXPECT_EQ(upstream->count(), 1U);
}

TEST_F(StoreLoss, a_repeated_check_finds_a_newer_fence_that_came_meanwhile) {
  options.check_timeout = 1min;
  std::atomic<bool> is_lost = true;
  line->decide_by([&](Verb) { return is_lost ? Fault::lose_request() : Fault::none(); });
  start_behind_line();
  auto late = post_later("/a", "7");
  ASSERT_TRUE(eventually([&] { return checks() > 0; }));
  const Client other(client::make_core(line->another_line(), runtime));
  EXPECT_TRUE(FenceGuard(other, "/a").check(8)->accepted);
  is_lost = false;
  EXPECT_EQ(late.get().status, 412);
  EXPECT_EQ(upstream->count(), 0U);
}

TEST_F(StoreLoss, a_check_that_stays_unanswered_is_unknown_and_lets_nothing_through) {
  options.check_timeout = 100ms;
  line->script(Verb::check_fence, Fault::lose_reply());
  start_behind_line();
  expect_unknown(post("/a", "7"));
  EXPECT_EQ(upstream->count(), 0U);
  EXPECT_EQ(post("/a", "6").status, 412) << "the store did remember";
  EXPECT_EQ(post("/a", "7").status, 200) << "and lets its holder try again";
}

TEST_F(StoreLoss, a_store_that_is_gone_when_it_is_asked_again_leaves_the_outcome_unknown) {
  options.check_timeout = test::stretched(700ms);
  line->script(Verb::check_fence, Fault::lose_reply());
  line->script(Verb::check_fence, Fault::refuse(), 1'000'000);
  start_behind_line();
  expect_unknown(post("/a", "7"));
  EXPECT_GT(checks(), 1U);
  EXPECT_EQ(upstream->count(), 0U);
}

// A Holdfast server as far as a guard knows one: it reads a check, and closes instead of answering
// until it is mended.
class DyingServer {
 public:
  std::string url() const { return fmt::format("http://127.0.0.1:{}", server_.port()); }
  int checks() const { return checks_; }
  void mend() { is_mended_ = true; }
  void refuse_connections() { server_.stop_accepting(); }

 private:
  static std::string good(const boost::json::object& body) {
    const auto text = boost::json::serialize(body);
    return fmt::format(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
        "Content-Length: {}\r\n\r\n{}",
        text.size(), text);
  }
  void serve(RawPeer& peer) {
    namespace remote = backends::remote;
    const auto request = peer.request();
    if (request.starts_with("GET /v1/store/info ")) {
      peer.say(good(remote::to_json(remote::Info{.server = "one", .describe = "memory:"})));
    } else if (request.starts_with("POST /v1/store/apply ")) {
      ++checks_;
      const model::GuardOutcome accepted{.accepted = true, .newest = 7};
      if (is_mended_) peer.say(good(remote::to_json(store::Reply{.at = {}, .outcome = accepted})));
    }
  }

  std::atomic<int> checks_{0};
  std::atomic<bool> is_mended_{false};
  RawServer server_{[this](RawPeer& peer, int) { serve(peer); }};
};

TEST_F(GuardTest, a_server_that_dies_between_request_and_answer_is_unknown_until_it_answers) {
  options.check_timeout = 100ms;
  DyingServer server;
  start(Upstream::answer_ok, server.url());
  HttpAnswer answer;
  // On a busy machine half a second may pass before the request is on its way: that is a 503.
  ASSERT_TRUE(eventually([&] {
    answer = post("/a", "7");
    return server.checks() > 0;
  }));
  expect_unknown(answer);
  EXPECT_EQ(upstream->count(), 0U);
  server.mend();
  EXPECT_TRUE(eventually([&] { return post("/a", "7").status == 200; }));
  EXPECT_EQ(upstream->count(), 1U);
}

TEST_F(GuardTest, a_server_that_refuses_connections_is_unavailable) {
  DyingServer server;
  start(Upstream::answer_ok, server.url());
  server.refuse_connections();
  expect_unavailable(post("/a", "7"));
  EXPECT_EQ(server.checks(), 0);
  EXPECT_EQ(upstream->count(), 0U);
}

}  // namespace
}  // namespace holdfast::guard
