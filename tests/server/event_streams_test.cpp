// SPDX-License-Identifier: Apache-2.0
#include "server/events/streams.hpp"
#include "support/hand_runtime.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

// What a client would have read.
class Page : public net::http::BodyStream {
 public:
  bool write(std::shared_ptr<const std::string> bytes) override {
    if (is_gone) return false;
    ++writes;
    text += *bytes;
    return true;
  }
  void close() override { is_gone = true; }
  void on_closed(std::move_only_function<void()> callback) override {
    closed = std::move(callback);
  }

  void leave() {
    is_gone = true;
    if (closed) std::exchange(closed, nullptr)();
  }

  std::string text;
  int writes = 0;
  bool is_gone = false;
  std::move_only_function<void()> closed;
};

class EventStreamsTest : public testing::Test {
 protected:
  std::shared_ptr<Page> listen(EventFilter filter = {}, std::optional<std::uint64_t> after = {}) {
    auto page = std::make_shared<Page>();
    streams_.add(hub_.subscribe(std::move(filter), after), page);
    runtime_->advance(2 * event_interval);
    page->writes = 0;
    return page;
  }
  void publish(const std::string& name) { hub_.publish({.name = name}); }
  void pass(std::chrono::milliseconds time) { runtime_->advance(time); }

  std::shared_ptr<test::HandRuntime> runtime_ = std::make_shared<test::HandRuntime>();
  EventHub hub_{10'000, 1};
  EventStreams streams_{hub_, runtime_};
};

TEST_F(EventStreamsTest, the_first_event_after_a_silence_is_told_at_once) {
  const auto page = listen();
  publish("a");
  pass(0ms);
  EXPECT_THAT(page->text, HasSubstr("\"name\":\"a\""));
}

TEST_F(EventStreamsTest, what_follows_goes_out_together) {
  const auto page = listen();
  for (int i = 0; i < 500; ++i) {
    publish(std::to_string(i));
    pass(1ms);
  }
  pass(2 * event_interval);
  EXPECT_THAT(page->text, HasSubstr("\"name\":\"499\""));
  EXPECT_LE(page->writes, 500ms / event_interval + 3)
      << "500 ms at " << event_interval.count() << " ms each";
}

TEST_F(EventStreamsTest, whoever_leaves_is_forgotten) {
  const auto page = listen();
  EXPECT_EQ(hub_.subscribers(), 1U);
  page->leave();
  EXPECT_EQ(hub_.subscribers(), 0U);
  publish("a");
  pass(1000ms);
  EXPECT_EQ(page->writes, 0);
}

TEST_F(EventStreamsTest, a_silence_has_a_sign_of_life_now_and_then) {
  const auto page = listen();
  pass(46s);
  EXPECT_EQ(page->writes, 3);
  EXPECT_THAT(page->text, HasSubstr(": still here"));
  publish("a");
  pass(14s);
  EXPECT_EQ(page->writes, 4) << "an event is a sign of life as well";
}

TEST_F(EventStreamsTest, whoever_comes_back_gets_all_that_was_kept_piece_by_piece) {
  for (int i = 0; i < 5'000; ++i) publish(std::to_string(i));
  const auto page = std::make_shared<Page>();
  streams_.add(hub_.subscribe({}, 0), page);
  pass(200ms);
  EXPECT_THAT(page->text, HasSubstr("\"name\":\"0\""));
  EXPECT_THAT(page->text, HasSubstr("\"name\":\"4999\""));
  EXPECT_THAT(page->text, Not(HasSubstr("event: missed")));
  EXPECT_GE(page->writes, 5);
}

TEST_F(EventStreamsTest, what_was_missed_is_told_before_the_rest) {
  publish("a");
  const auto page = std::make_shared<Page>();
  streams_.add(hub_.subscribe({}, 77), page);
  pass(10ms);
  EXPECT_THAT(page->text, HasSubstr("event: missed"));
}

TEST_F(EventStreamsTest, a_name_that_does_not_fit_is_not_told) {
  const auto page = listen({.prefix = "orders:"});
  publish("secret");
  publish("orders:1");
  pass(2 * event_interval);
  EXPECT_THAT(page->text, HasSubstr("orders:1"));
  EXPECT_THAT(page->text, Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace holdfast::server
