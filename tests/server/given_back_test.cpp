// SPDX-License-Identifier: Apache-2.0
//
// What becomes of a grant whose caller did not get the answer: on a store behind a bad line.
#include "backends/memory/memory_store.hpp"
#include "client/core.hpp"
#include "client/voting_store.hpp"
#include "server_fixture.hpp"
#include "support/fault_store.hpp"

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using test::Fault;
using test::FaultStore;

class GivenBackTest : public ServerTest {
 protected:
  void SetUp() override {
    start_over([](const auto& runtime) { return backends::memory::make_memory_store(runtime); });
  }
  void start_over(
      const std::function<std::shared_ptr<store::Store>(const std::shared_ptr<runtime::Runtime>&)>&
          make) {
    const auto runtime = runtime::shared_runtime();
    store = FaultStore::over(runtime, [runtime, make] { return make(runtime); });
    options.listen = {"127.0.0.1:0"};
    auto started = Server::start(options, client::make_core(store, runtime));
    ASSERT_TRUE(started) << started.error().message;
    server = std::move(*started);
    address = server->addresses().front();
  }
  // A caller that sends this, and leaves while the store's answer to `verb` is on its way.
  void ask_and_leave(const HttpCall& what, test::Verb verb, unsigned nth = 1) {
    const auto before = store->count(verb);
    HttpConnection caller(address);
    caller.send(test::request_text(what, address));
    EXPECT_TRUE(eventually([&] { return store->count(verb) >= before + nth; }));
  }
  bool is_held(const std::string& name) { return get("/v1/locks/" + name).status == 200; }
  // Whether nothing is held after `leave` was tried a few times: on a busy machine the server may
  // notice too late that the caller is gone, and its answer has been sent by then.
  bool is_given_back(const std::vector<std::string>& names, const std::function<void()>& leave) {
    const auto is_free = [&] {
      return std::ranges::none_of(names, [&](const auto& name) { return is_held(name); });
    };
    for (int tries = 0; tries < 5; ++tries) {
      leave();
      if (eventually(is_free, 2s)) return true;
      for (const auto& name : names) {
        call({.method = "DELETE", .path = "/v1/locks/" + name, .body = R"({"reason":"again"})"});
      }
    }
    return false;
  }

  std::shared_ptr<FaultStore> store;
};

TEST_F(GivenBackTest, a_caller_that_left_while_it_was_granted_a_lock_does_not_keep_it) {
  EXPECT_TRUE(is_given_back({"a"}, [&] {
    store->script(test::Verb::acquire, Fault::delay_reply(200ms));
    ask_and_leave({.method = "POST", .path = "/v1/locks/a/acquire", .body = R"({"ttl":"1h"})"},
                  test::Verb::acquire);
  }));
}

TEST_F(GivenBackTest, a_caller_that_left_while_it_was_granted_several_locks_keeps_none_of_them) {
  EXPECT_TRUE(is_given_back({"a", "b"}, [&] {
    store->script(test::Verb::renew, Fault::delay_reply(200ms));
    ask_and_leave({.method = "POST",
                   .path = "/v1/locks:acquire-all",
                   .body = R"({"names":["a","b"],"ttl":"1h"})"},
                  test::Verb::renew);
  }));
}

TEST_F(GivenBackTest, a_retried_post_keeps_its_lease_whatever_the_first_attempt_gives_back_later) {
  const HttpCall keyed{.method = "POST",
                       .path = "/v1/locks/a/acquire",
                       .body = R"({"ttl":"30s"})",
                       .headers = {{"Idempotency-Key", "job-7"}}};
  store->script(test::Verb::acquire, Fault::lose_reply());
  store->script(test::Verb::release, Fault::lose_request());
  const auto lost = call(keyed);
  ASSERT_EQ(lost.code(), "outcome_unknown") << lost.body;
  const auto again = call(keyed);
  ASSERT_EQ(again.status, 200) << again.body;
  // The release that gets through is the one of the first attempt.
  EXPECT_TRUE(eventually([&] {
    const auto releases = store->history(test::Verb::release);
    return releases.size() > 1 && releases[1].told.has_value();
  }));
  EXPECT_EQ(post("/v1/locks/a/acquire").status, 409) << "two callers believed in it";
}

TEST_F(GivenBackTest, a_key_that_was_used_to_read_does_not_let_its_caller_write) {
  const std::string read = R"({"kind":"read_write","mode":"read","request":"K"})";
  ASSERT_EQ(post("/v1/locks/a/acquire", read).status, 200);
  const auto write =
      post("/v1/locks/a/acquire", R"({"kind":"read_write","mode":"write","request":"K"})");
  EXPECT_EQ(write.status, 400) << write.body;
  EXPECT_EQ(post("/v1/locks/a/acquire", read).status, 200);
}

TEST_F(GivenBackTest, a_first_attempt_that_is_closed_late_leaves_the_second_its_lease) {
  const auto holder = post("/v1/locks/a/acquire", R"({"ttl":"30s"})").text("owner");
  const HttpCall keyed{.method = "POST",
                       .path = "/v1/locks/a/acquire",
                       .body = R"({"ttl":"30s","wait":"1m"})",
                       .headers = {{"Idempotency-Key", "job-7"}}};
  HttpConnection first(address);
  first.send(test::request_text(keyed, address));
  ASSERT_TRUE(eventually([&] { return store->count(test::Verb::acquire) == 2; }));
  ASSERT_EQ(post("/v1/locks/a/release", R"({"owner":")" + holder + "\"}").status, 200);
  ASSERT_EQ(call(keyed).status, 200);
  const auto before = connections();
  first.close();
  EXPECT_TRUE(eventually([&] { return connections() < before; }));
  EXPECT_EQ(post("/v1/locks/a/acquire").status, 409) << "two callers believed in it";
}

// On a store that votes, where every question has a request of its own.
class GivenBackByVotersTest : public GivenBackTest {
 protected:
  void SetUp() override {
    start_over([this](const auto& runtime) {
      voters = std::make_shared<test::VotingStore>(
          runtime, store::Retry{.times = 3, .delay = 1ms, .jitter = {}});
      return voters;
    });
  }
  std::shared_ptr<test::VotingStore> voters;
};

TEST_F(GivenBackByVotersTest, a_caller_that_left_while_its_second_try_was_granted_keeps_nothing) {
  for (const std::string path : {"/v1/locks/a/acquire", "/v1/locks:acquire-all"}) {
    const auto names = path.ends_with("all") ? R"("names":["a"],)" : "";
    const auto body = fmt::format(R"({{{}"ttl":"1h"}})", names);
    EXPECT_TRUE(is_given_back({"a"}, [&] {
      voters->lose_quorum(1);
      store->script(test::Verb::acquire, Fault::delay_reply(200ms), 1, 1);
      ask_and_leave({.method = "POST", .path = path, .body = body}, test::Verb::acquire, 2);
      EXPECT_TRUE(eventually([&] { return is_held("a"); })) << path;
    })) << path;
  }
}

// What the store takes back of one attempt could be what another one of the same key was granted.
TEST_F(GivenBackByVotersTest, a_key_does_not_make_two_attempts_one) {
  const HttpCall keyed{.method = "POST",
                       .path = "/v1/locks/a/acquire",
                       .body = R"({"ttl":"30s"})",
                       .headers = {{"Idempotency-Key", "job-7"}}};
  const auto first = call(keyed);
  ASSERT_EQ(first.status, 200) << first.body;
  EXPECT_EQ(call(keyed).status, 409);
  const auto lease = fmt::format(R"({{"owner":"{}","request":"job-7"}})", first.text("owner"));
  EXPECT_EQ(post("/v1/locks/a/renew", lease).status, 200);
  EXPECT_EQ(post("/v1/locks/a/release", lease).status, 200);
  const auto other = post("/v1/locks/a/release", R"({"owner":"anna","request":"job-7"})");
  EXPECT_EQ(other.status, 422) << other.body;
  const auto renewed = post("/v1/locks/a/renew", R"({"owner":"anna","request":"job-7"})");
  EXPECT_EQ(renewed.status, 422) << renewed.body;
}

}  // namespace
}  // namespace holdfast::server
