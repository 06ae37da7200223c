// SPDX-License-Identifier: Apache-2.0
#include <holdfast/tracing.hpp>

#include "client/hand_client.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast::test {
namespace {

// Writes down what it is told: "start lock.hold lock.name=orders lock.fence=1".
class Notes final : public Tracer {
 public:
  std::uint64_t start(std::string_view operation, TraceAttributes attributes) override {
    const std::lock_guard lock(mutex_);
    open_[++last_] = operation;
    lines_.push_back(fmt::format("start {}{}", operation, text_of(attributes)));
    return last_;
  }
  void end(std::uint64_t span, TraceAttributes attributes) override {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(span);
    lines_.push_back(fmt::format("end {}{}", found == open_.end() ? "unknown" : found->second,
                                 text_of(attributes)));
    open_.erase(span);
  }

  std::vector<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lines_, {});
  }
  std::size_t open() const {
    const std::lock_guard lock(mutex_);
    return open_.size();
  }

 private:
  static std::string text_of(TraceAttributes attributes) {
    std::string text;
    for (const auto& each : attributes) {
      text += fmt::format(" {}=", each.name);
      std::visit([&](const auto& value) { text += fmt::format("{}", value); }, each.value);
    }
    return text;
  }

  mutable std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, std::string> open_;
  std::vector<std::string> lines_;
};

using Lines = std::vector<std::string>;

class TracingTest : public ClientTest {
 public:
  void SetUp() override { mine.api.trace(notes); }
  Lines take() const { return notes->take(); }

  std::shared_ptr<Notes> notes = std::make_shared<Notes>();
};

TEST_F(TracingTest, tells_of_an_acquire_and_a_hold) {
  auto lease = mine.take("orders", {.ttl = 30s, .wait = 5s});
  const auto fence = lease.fence();
  EXPECT_EQ(take(), (Lines{"start lock.acquire lock.name=orders lock.kind=mutex lock.ttl_ms=30000 "
                           "lock.wait_ms=5000",
                           fmt::format("end lock.acquire lock.acquired=true lock.fence={}", fence),
                           fmt::format("start lock.hold lock.name=orders lock.fence={}", fence)}));
  value_of(lease.release());
  EXPECT_EQ(take(), (Lines{"end lock.hold lock.ended=released"}));
}

TEST_F(TracingTest, tells_why_an_acquire_failed) {
  const auto holder = other.take("orders");
  EXPECT_EQ(error_of(mine.api.mutex("orders").try_acquire()), Errc::busy);
  EXPECT_EQ(take().back(), "end lock.acquire lock.acquired=false lock.error=busy");
}

TEST_F(TracingTest, tells_how_a_hold_ended) {
  const auto lost = mine.take("lost", {.ttl = 1s, .renew = false});
  auto detached = mine.take("detached");
  auto destroyed = std::make_optional(mine.take("destroyed"));
  auto taken_away = std::make_optional(mine.take("taken away"));
  take();
  advance(1s);
  EXPECT_EQ(take(), (Lines{"end lock.hold lock.ended=lost"}));
  detached.detach();
  EXPECT_EQ(take(), (Lines{"end lock.hold lock.ended=detached"}));
  destroyed.reset();
  EXPECT_EQ(take(), (Lines{"end lock.hold lock.ended=released"}));
  value_of(mine.api.release_all());
  EXPECT_EQ(take(), (Lines{"end lock.hold lock.ended=released"}));
  taken_away.reset();
  EXPECT_EQ(take(), Lines{});
  EXPECT_EQ(notes->open(), 0U);
  advance(30s);  // what was detached ends with its ttl
}

TEST_F(TracingTest, tells_of_idempotent_runs) {
  const auto work = [](const holdfast::Run&) { return std::string("1"); };
  const auto fence = value_of(mine.api.idempotent("pay:1", {.fingerprint = "f"}, work)).fence;
  EXPECT_EQ(take(), (Lines{"start idempotency.run idempotency.key=pay:1",
                           fmt::format("end idempotency.run idempotency.outcome=completed "
                                       "idempotency.fence={}",
                                       fence)}));
  const auto end_of = [&](auto&& act) {
    act();
    const auto lines = take();
    EXPECT_EQ(lines.size(), 2U);
    return lines.empty() ? "" : lines.back().substr(0, lines.back().find(" idempotency.fence"));
  };
  EXPECT_EQ(end_of([&] { value_of(mine.api.idempotent("pay:1", {.fingerprint = "f"}, work)); }),
            "end idempotency.run idempotency.outcome=replayed");
  EXPECT_EQ(end_of([&] { value_of(mine.api.idempotent("pay:1", {.fingerprint = "g"}, work)); }),
            "end idempotency.run idempotency.outcome=mismatch");
  EXPECT_EQ(end_of([&] { value_of(value_of(mine.api.begin_run("pay:2")).run->fail("no")); }),
            "end idempotency.run idempotency.outcome=failed");
  EXPECT_EQ(end_of([&] { value_of(mine.api.begin_run("pay:3")); }),
            "end idempotency.run idempotency.outcome=abandoned");
  mine.line->script(Verb::run_begin, Fault::refuse());
  EXPECT_EQ(end_of([&] { EXPECT_FALSE(mine.api.begin_run("pay:4")); }),
            "end idempotency.run idempotency.error=unavailable");
  EXPECT_EQ(notes->open(), 0U);
}

TEST_F(TracingTest, tells_of_checks_of_a_rate_limit) {
  const auto limit = mine.api.rate_limit("mails", {.limit = 1, .window = 1min});
  value_of(limit.check());
  EXPECT_EQ(take(), (Lines{"start rate_limit.check rate_limit.scope=mails rate_limit.limit=1 "
                           "rate_limit.cost=1",
                           "end rate_limit.check rate_limit.allowed=true rate_limit.remaining=0"}));
  value_of(limit.check());
  EXPECT_EQ(take().back(), "end rate_limit.check rate_limit.allowed=false rate_limit.remaining=0");
  value_of(limit.peek());
  EXPECT_EQ(take(), Lines{});
}

TEST_F(TracingTest, never_has_an_owner_in_it) {
  auto lease = mine.take("orders", {.owner = "secret-owner"});
  auto fresh = mine.take("fresh");
  const auto owner = fresh.owner().str();
  value_of(lease.release());
  value_of(fresh.release());
  for (const auto& line : take()) {
    EXPECT_EQ(line.find("secret-owner"), std::string::npos) << line;
    EXPECT_EQ(line.find(owner), std::string::npos) << line;
  }
}

TEST_F(TracingTest, ends_with_the_tracer_it_began_with_and_tells_nobody_after_that) {
  auto lease = mine.take("orders");
  const auto next = std::make_shared<Notes>();
  mine.api.trace(next);
  take();
  value_of(lease.release());
  EXPECT_EQ(take(), (Lines{"end lock.hold lock.ended=released"}));
  EXPECT_EQ(next->take(), Lines{});
  mine.take("orders");
  EXPECT_EQ(next->take().size(), 4U);
  Client(mine.api).trace(nullptr);
  mine.take("orders");
  EXPECT_EQ(next->take(), Lines{}) << "a copy speaks for all";
  EXPECT_EQ(take(), Lines{});
}

class Broken final : public Tracer {
 public:
  explicit Broken(bool at_start) : at_start_(at_start) {}
  std::uint64_t start(std::string_view, TraceAttributes) override {
    if (at_start_) throw std::runtime_error("broken");
    ++started;
    return 1;
  }
  void end(std::uint64_t, TraceAttributes) override {
    ++ended;
    throw 5;  // NOLINT(hicpp-exception-baseclass): not every exception is one of the standard's
  }

  int started = 0;
  int ended = 0;

 private:
  const bool at_start_;
};

TEST_F(TracingTest, does_not_break_a_lock_when_the_tracer_throws) {
  for (const bool at_start : {true, false}) {
    const auto broken = std::make_shared<Broken>(at_start);
    mine.api.trace(broken);
    auto lease = mine.take("orders");
    EXPECT_TRUE(lease.valid());
    EXPECT_EQ(value_of(lease.release()), Released::released);
    EXPECT_EQ(broken->started, at_start ? 0 : 2);
    EXPECT_EQ(broken->ended, broken->started) << "what never began does not end";
  }
}

}  // namespace
}  // namespace holdfast::test
