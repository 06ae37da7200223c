// SPDX-License-Identifier: Apache-2.0
//
// The header Idempotency-Key on the patterns: an operation under a lock that happens once.
#include "idempotency_key_fixture.hpp"
#include "support/redis_server.hpp"

#include <boost/json/object.hpp>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <latch>
#include <memory>
#include <thread>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;
using test::RawPeer;
using testing::HasSubstr;
using testing::StartsWith;

class IdempotencyKeyStores : public IdempotencyKeyTest,
                             public testing::WithParamInterface<const char*> {
 protected:
  std::string store() {
    if (std::string_view(GetParam()) == "memory") return {};
    redis_.emplace();
    return redis_->url();
  }

 private:
  std::optional<test::RedisServer> redis_;
};

INSTANTIATE_TEST_SUITE_P(Stores, IdempotencyKeyStores, testing::Values("memory", "redis"),
                         [](const auto& store) { return std::string(store.param); });

TEST_P(IdempotencyKeyStores, the_upstream_is_called_once_and_its_answer_replayed_as_it_was) {
  start_answering(charged, store());
  const auto first = run();
  EXPECT_EQ(first.status, 201) << first.body;
  EXPECT_FALSE(first.headers.contains("idempotency-replayed"));
  EXPECT_THAT(last_request(), testing::ContainsRegex("Idempotency-Key: [0-9a-f]{64}\r\n"))
      << "one of its own for each token and path: tenants may use the same key";
  for (int each = 0; each < 3; ++each) {
    const auto again = run();
    EXPECT_EQ(again.status, 201);
    EXPECT_EQ(again.body, "charged");
    EXPECT_EQ(again.header("idempotency-replayed"), "true");
    for (const auto* name : {"content-type", "location", "holdfast-fence"}) {
      EXPECT_EQ(again.header(name), first.header(name)) << name;
    }
  }
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(run("k2").status, 201);
  EXPECT_EQ(calls, 2) << "another key is another operation";
}

TEST_P(IdempotencyKeyStores, of_twenty_at_the_same_time_one_reaches_the_upstream) {
  start_with(
      [this](RawPeer& peer, int) {
        // Ten want to wait, and one of them may be the one that runs.
        EXPECT_TRUE(test::eventually([&] { return get("/v1/stats").number("waiters") >= 9; }));
        peer.say(charged);
      },
      store());
  std::latch go(20);
  std::vector<std::future<HttpAnswer>> all;
  for (int each = 0; each < 20; ++each) {
    all.push_back(std::async(std::launch::async, [&, each] {
      auto what = with_key("k1");
      if (each % 2 == 0) what.headers["Prefer"] = "wait=60";
      go.arrive_and_wait();
      return call(what);
    }));
  }
  int answered = 0;
  int first = 0;
  for (auto& each : all) {
    const auto answer = each.get();
    if (answer.status == 201) {
      ++answered;
      if (!answer.headers.contains("idempotency-replayed")) ++first;
      continue;
    }
    EXPECT_EQ(answer.status, 409) << answer.body;
    EXPECT_EQ(answer.code(), "in_progress");
    EXPECT_GE(std::stol(answer.header("retry-after")), 1);
    EXPECT_LE(std::stol(answer.header("retry-after")), 30);
  }
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(first, 1);
  EXPECT_GE(answered, 10) << "whoever waited was told";
}

TEST_F(IdempotencyKeyTest, a_hold_is_replayed_too) {
  start();
  for (const std::string pattern : {"simple", "reentrant", "fair", "redlock"}) {
    const auto path = pattern + "/r1";
    const auto first = run("k1", R"({"durationMs":1})", path);
    ASSERT_EQ(first.status, 200) << first.body;
    const auto again = run("k1", R"({"durationMs":1})", path);
    EXPECT_EQ(again.status, 200);
    EXPECT_EQ(again.body, first.body) << "the same fence, too";
    EXPECT_EQ(again.header("content-type"), "application/json");
    EXPECT_EQ(again.header("idempotency-replayed"), "true");
  }
}

TEST_F(IdempotencyKeyTest, without_the_header_nothing_is_kept) {
  start_answering(charged);
  for (int each = 1; each <= 2; ++each) {
    EXPECT_EQ(post("/api/locks/watchdog/order-7", charge).status, 201);
    EXPECT_EQ(calls, each);
  }
}

TEST_F(IdempotencyKeyTest, the_same_key_with_another_request_is_422) {
  start_answering(charged);
  ASSERT_EQ(run().status, 201);
  const auto other = run("k1", R"({"upstream":"billing","body":{"amount":13}})");
  EXPECT_EQ(other.status, 422);
  EXPECT_EQ(other.code(), "mismatch");
  EXPECT_EQ(other.text("error"), "Unprocessable Entity") << "for the guide's clients";
  EXPECT_EQ(run("k1", R"( {"body": {"amount":12}, "upstream":"billing"} )").status, 201)
      << "the same, written differently";
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(run("k1", charge, "watchdog/order-8").status, 201) << "another path is another key";
  EXPECT_EQ(calls, 2);
}

TEST_F(IdempotencyKeyTest, a_header_that_is_no_key_is_400_and_nothing_happens) {
  start_answering(charged);
  const std::pair<std::string, std::string> cases[] = {
      {"", "Idempotency-Key: must have 1 to 256 bytes; got 0"},
      {std::string(257, 'k'), "Idempotency-Key: must have 1 to 256 bytes; got 257"},
      {"a\tb", "Idempotency-Key: must have no control characters"},
  };
  for (const auto& [key, reason] : cases) {
    const auto answer = run(key);
    EXPECT_EQ(answer.status, 400) << key;
    EXPECT_THAT(answer.text("detail"), StartsWith(reason));
  }
  HttpConnection twice(address);
  twice.send(fmt::format(
      "POST /api/locks/watchdog/order-7 HTTP/1.1\r\nHost: {}\r\nIdempotency-Key: a\r\n"
      "Idempotency-Key: a\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
      address, std::string_view(charge).size(), charge));
  const auto refused = twice.receive();
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.text("detail"), "Idempotency-Key: must stand there once");
  for (const auto* wait : {"wait=", "wait=-1", "wait=x", "wait=86401", "a, wait=1.5"}) {
    auto what = with_key("k1");
    what.headers["Prefer"] = wait;
    EXPECT_EQ(call(what).status, 400) << wait;
  }
  EXPECT_EQ(run("k1", R"({"upstream":"billing","nobody":1})").status, 400);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(metric("new"), "0");
  EXPECT_EQ(run(std::string(256, 'k')).status, 201);
}

TEST_F(IdempotencyKeyTest, what_the_lock_refused_did_not_happen_and_may_be_tried_again) {
  start_answering(charged);
  const auto lock = post("/v1/locks/lock:simple:order-7/acquire");
  ASSERT_EQ(lock.status, 200);
  const auto busy = run("k1", charge, "simple/order-7");
  EXPECT_EQ(busy.status, 409);
  EXPECT_EQ(busy.code(), "busy");
  ASSERT_EQ(
      post("/v1/locks/lock:simple:order-7/release", R"({"owner":")" + lock.text("owner") + "\"}")
          .status,
      200);
  const auto done = run("k1", charge, "simple/order-7");
  EXPECT_EQ(done.status, 201) << done.body;
  EXPECT_FALSE(done.headers.contains("idempotency-replayed"));
  EXPECT_EQ(calls, 1);
}

TEST_F(IdempotencyKeyTest, an_upstream_that_was_never_reached_may_be_tried_again) {
  options.patterns.upstreams["billing"] = "http://127.0.0.1:1/";
  start();
  EXPECT_EQ(run().status, 502);
  EXPECT_EQ(run().status, 502) << "tried again, and not 409 unknown";
  EXPECT_EQ(metric("new"), "2");
}

TEST_F(IdempotencyKeyTest, an_upstream_that_asks_to_come_later_has_done_nothing) {
  start_with([](RawPeer& peer, int nth) {
    peer.say(nth == 1 ? "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\n"
                        "Content-Length: 0\r\n\r\n"
                      : charged);
  });
  EXPECT_EQ(run().status, 429);
  EXPECT_EQ(run().status, 201);
  EXPECT_EQ(calls, 2);
}

TEST_F(IdempotencyKeyTest, a_header_that_is_no_text_is_left_out_of_what_is_kept) {
  start_answering(
      "HTTP/1.1 200 OK\r\nETag: \"\xff\"\r\nContent-Language: de\r\n"
      "Content-Length: 2\r\n\r\n\xff\xfe");
  EXPECT_EQ(run().header("etag"), "\"\xff\"");
  const auto again = run();
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, "\xff\xfe");
  EXPECT_EQ(again.header("content-language"), "de");
  EXPECT_FALSE(again.headers.contains("etag"));
  EXPECT_EQ(calls, 1);
}

TEST_F(IdempotencyKeyTest, other_failures_of_the_upstream_are_its_answer) {
  start_answering("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 4\r\n\r\noops");
  EXPECT_EQ(run().status, 500);
  const auto again = run();
  EXPECT_EQ(again.status, 500);
  EXPECT_EQ(again.body, "oops");
  EXPECT_EQ(again.header("idempotency-replayed"), "true");
  EXPECT_EQ(calls, 1);
}

TEST_F(IdempotencyKeyTest, a_connection_cut_after_sending_is_unknown_and_never_charged_twice) {
  cut_at = 1;
  start_with([](RawPeer&, int) {});
  EXPECT_EQ(run().status, 502);
  const auto again = run();
  EXPECT_EQ(again.status, 409) << again.body;
  EXPECT_EQ(again.code(), "unknown");
  EXPECT_EQ(again.text("error"), "Conflict");
  EXPECT_EQ(calls, 1);
}

TEST_F(IdempotencyKeyTest, a_time_out_of_the_upstream_is_unknown_too) {
  // The peer may still look at it when the test is over.
  const auto end = std::make_shared<std::latch>(1);
  start_with([end](RawPeer&, int) { end->wait(); });
  const auto body =
      fmt::format(R"({{"upstream":"billing","ttlMs":{}}})", test::stretched(400ms) / 1ms);
  int tries = 0;
  std::string key;
  // On a busy machine the lease may be over before that is noticed.
  EXPECT_TRUE(test::eventually([&] {
    key = fmt::format("k{}", ++tries);
    return run(key, body, "simple/order-7").status == 504;
  }));
  const int before = calls;
  EXPECT_EQ(run(key, body, "simple/order-7").code(), "unknown");
  EXPECT_EQ(calls, before);
  end->count_down();
}

TEST_F(IdempotencyKeyTest, what_is_unknown_is_taken_over_where_the_operator_allows_it) {
  options.idempotency.take_over = OnceOptions::TakeOver::run;
  cut_at = 1;
  start_with([](RawPeer& peer, int nth) {
    if (nth > 1) peer.say(charged);
  });
  EXPECT_EQ(run().status, 502);
  const auto again = run();
  EXPECT_EQ(again.status, 201) << again.body;
  EXPECT_THAT(last_request(), HasSubstr("Holdfast-Taken-Over: true\r\n"));
  EXPECT_EQ(run().header("idempotency-replayed"), "true");
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(metric("takeover"), "1");
}

TEST_F(IdempotencyKeyTest, an_answer_that_is_too_long_to_be_kept_is_not_asked_for_again) {
  const std::string body(max_answer_bytes + 1, 'x');
  start_answering(
      fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body));
  EXPECT_EQ(run().body.size(), body.size());
  const auto again = run();
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.code(), "answer_too_long");
  EXPECT_EQ(again.header("idempotency-replayed"), "true");
  EXPECT_EQ(calls, 1);
}

TEST_F(IdempotencyKeyTest, two_tenants_never_share_an_answer_and_no_token_is_in_the_record) {
  const test::TemporaryFolder folder;
  const auto file = (folder.path() / "tokens").string();
  std::ofstream(file)
      << "locker fea47895995ea3f73d254cd6345c8b2d4332c600bad861188a21597eb553521a lock *\n"
      << "scoped 16d56c41fff8b01dace6ca266b6c160503e9999260dc3a69dd6f06f37e307e5d lock *\n";
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  options.token_file = file;
  start_answering(charged);
  const auto ask = [&](const std::string& who) {
    auto what = with_key("k1");
    what.headers["Authorization"] = "Bearer " + who + "-token";
    return call(what);
  };
  EXPECT_FALSE(ask("locker").headers.contains("idempotency-replayed"));
  EXPECT_FALSE(ask("scoped").headers.contains("idempotency-replayed"));
  EXPECT_TRUE(ask("locker").headers.contains("idempotency-replayed"));
  EXPECT_EQ(calls, 2);
}

TEST_F(IdempotencyKeyTest, a_page_of_an_allowed_origin_may_see_the_headers) {
  options.allowed_origins = {"https://app.example.org"};
  start();
  auto what = with_key("k1", R"({"durationMs":0})", "simple/r1");
  what.headers["Origin"] = "https://app.example.org";
  const auto exposed = call(what).header("access-control-expose-headers");
  for (const auto* name : {"Idempotency-Replayed", "Retry-After", "RateLimit-Limit",
                           "RateLimit-Remaining", "RateLimit-Reset"}) {
    EXPECT_THAT(exposed, HasSubstr(name));
  }
}

}  // namespace
}  // namespace holdfast::server
