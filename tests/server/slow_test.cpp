// SPDX-License-Identifier: Apache-2.0
//
// Clients that take their time, each within a limit of its own, and what others notice of them.
#include "server_fixture.hpp"
#include "support/program.hpp"

#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <future>
#include <thread>
#include <vector>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class SlowTest : public ServerTest {
 protected:
  std::string host() const { return "Host: " + address + "\r\n"; }
  static auto since(Clock::time_point began) { return Clock::now() - began; }
};

TEST_F(SlowTest, headers_that_trickle_in_are_ended_with_408) {
  options.limits.header_timeout = 600ms;
  start();
  HttpConnection connection(address);
  const auto began = Clock::now();
  std::jthread sender([&](const std::stop_token& stop) {
    for (const char each :
         std::string("GET /v1/locks HTTP/1.1\r\nX-Slow: yyyyyyyyyyyyyyyyyyyyyyy")) {
      if (stop.stop_requested() || !connection.send(std::string_view(&each, 1))) return;
      std::this_thread::sleep_for(100ms);  // as slow as it wants to be
    }
  });
  const auto answer = connection.receive(5s);
  EXPECT_EQ(answer.status, 408);
  EXPECT_EQ(answer.code(), "request_timeout");
  EXPECT_LT(since(began), test::at_most(3s));
  sender.request_stop();
}

TEST_F(SlowTest, a_body_that_never_comes_is_ended_with_408) {
  options.limits.body_timeout = 600ms;
  start();
  for (const auto* framing : {"Content-Length: 10\r\n", "Transfer-Encoding: chunked\r\n",
                              "Content-Length: 10\r\nExpect: 100-continue\r\n"}) {
    HttpConnection connection(address);
    connection.send("POST /v1/locks/a/acquire HTTP/1.1\r\n" + host() + framing + "\r\n");
    EXPECT_EQ(connection.receive(4s).code(), "request_timeout") << framing;
    EXPECT_TRUE(connection.is_closed_within(3s)) << framing;
  }
}

TEST_F(SlowTest, who_says_nothing_is_closed_without_a_word) {
  options.limits.idle_timeout = test::stretched(600ms);
  start();
  HttpConnection silent(address);
  HttpConnection polite(address);
  polite.send("GET /v1/locks HTTP/1.1\r\n" + host() + "\r\n");
  EXPECT_EQ(polite.receive().status, 200);
  EXPECT_EQ(silent.receive_to_end(), "");
  EXPECT_TRUE(polite.is_closed_within(4s));
}

TEST_F(SlowTest, waiting_for_a_lock_is_not_idling) {
  const auto time = test::stretched(600ms);
  options.limits.idle_timeout = time;
  options.limits.header_timeout = time;
  start();
  ASSERT_EQ(post("/v1/locks/a/acquire", R"({"ttl":"10m"})").status, 200);
  const auto answer =
      post("/v1/locks/a/acquire", fmt::format(R"({{"wait":"{}ms"}})", 3 * time / 1ms));
  EXPECT_EQ(answer.code(), "timed_out");
}

TEST_F(SlowTest, who_never_reads_its_answers_is_closed) {
  options.limits.idle_timeout = test::stretched(700ms);
  options.limits.header_timeout = test::stretched(700ms);
  start();
  HttpConnection connection(address);
  const int small = 4096;
  setsockopt(connection.fd(), SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
  const timeval patience{.tv_sec = 0, .tv_usec = 200'000};
  setsockopt(connection.fd(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  const auto request = "GET /v1/locks/" + std::string(500, 'x') + " HTTP/1.1\r\n" + host() + "\r\n";
  std::string many;
  for (int i = 0; i < 200; ++i) many += request;
  const auto until = Clock::now() + test::at_most(20s);
  bool is_closed = false;
  while (!is_closed && Clock::now() < until) {
    const auto sent = ::send(connection.fd(), many.data(), many.size(), MSG_NOSIGNAL);
    is_closed = sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK;
  }
  EXPECT_TRUE(is_closed);
  EXPECT_EQ(get("/v1/locks").status, 200);
}

TEST_F(SlowTest, a_subscriber_that_does_not_read_is_let_go) {
  options.limits.max_output_bytes = 16 * 1024;
  options.limits.idle_timeout = test::stretched(1s);
  start();
  HttpConnection connection(address);
  const int small = 4096;
  setsockopt(connection.fd(), SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
  connection.send("GET /v1/events HTTP/1.1\r\n" + host() + "\r\n");
  HttpConnection busy(address);
  const auto streams = [&] { return get("/v1/stats").number("event_streams"); };
  ASSERT_TRUE(test::eventually([&] { return streams() == 1; }));
  const std::string body = R"({"metadata":{"note":")" + std::string(3'000, 'x') + "\"}}";
  const auto until = Clock::now() + test::at_most(60s);
  for (int i = 0; streams() == 1 && Clock::now() < until; ++i) {
    for (int each = 0; each < 50; ++each) {
      busy.send(test::request_text({.method = "POST",
                                    .path = fmt::format("/v1/locks/n{}-{}/acquire", i, each),
                                    .body = body},
                                   address));
      ASSERT_EQ(busy.receive().status, 200);
    }
  }
  EXPECT_EQ(streams(), 0);
}

// Both ends of every connection are in this process.
std::size_t raise_descriptors(std::size_t wanted) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::max<rlim_t>(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, wanted));
  setrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<std::size_t>(limit.rlim_cur);
}

TEST_F(SlowTest, two_thousand_slow_connections_do_not_slow_down_a_healthy_one) {
  const auto descriptors = raise_descriptors(4'200);
  const auto count = std::min<std::size_t>(2'000, (descriptors - 200) / 2);
  if (count < 2'000) std::printf("only %zu connections: the limit of descriptors is low\n", count);
  options.limits.header_timeout = 60s;
  start();
  std::vector<std::unique_ptr<HttpConnection>> slow;
  for (std::size_t i = 0; i < count; ++i) {
    slow.push_back(std::make_unique<HttpConnection>(address));
    ASSERT_TRUE(slow.back()->is_connected()) << i;
    slow.back()->send("GET / HT");
  }
  std::jthread trickling([&](const std::stop_token& stop) {
    for (std::size_t i = 0; !stop.stop_requested(); i = (i + 1) % slow.size()) {
      slow[i]->send("x");
      if (i % 20 == 0) std::this_thread::sleep_for(10ms);  // two thousand bytes a second
    }
  });
  HttpConnection healthy(address);
  std::vector<Clock::duration> took;
  for (int i = 0; i < 1'000; ++i) {
    const auto began = Clock::now();
    healthy.send("GET /v1/locks/x HTTP/1.1\r\n" + host() + "\r\n");
    ASSERT_EQ(healthy.receive().status, 404);
    took.push_back(since(began));
  }
  std::ranges::sort(took);
  EXPECT_LT(took[990], test::at_most(50ms));
  EXPECT_GE(get("/v1/stats").number("connections"), static_cast<std::int64_t>(count));
}

}  // namespace
}  // namespace holdfast::server
