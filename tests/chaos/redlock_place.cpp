// SPDX-License-Identifier: Apache-2.0
//
// Three or five servers that write down everything before they answer. One of them at a time is
// stopped, or killed and started again: that is no fault of the store, and ends no lease.
#include "chaos/place.hpp"
#include "faults_redis/faults_fixture.hpp"
#include "faults_redis/trouble.hpp"

#include <fmt/format.h>

#include <optional>

namespace holdfast::faults {

namespace {

// Until every client is connected again.
constexpr Time reconnected_within = 1000 * millisecond;

class RedlockPlace final : public Place {
 public:
  void start(SharedLog&, Dice& dice) override {
    const std::size_t count = dice.one_in(2) ? 3 : 5;
    for (std::size_t i = 0; i < count; ++i) {
      members_.push_back(std::make_unique<test::RedisServer>(
          std::vector<std::string>{"--appendonly", "yes", "--appendfsync", "always"}));
    }
    proxy_.emplace(members_.front()->port());
  }

  std::string url(bool by_the_bad_line) override {
    std::string members;
    for (const auto& each : members_) {
      const bool is_bad = by_the_bad_line && each == members_.front();
      const auto port = is_bad ? proxy_->port() : each->port();
      members += fmt::format("{}127.0.0.1:{}", members.empty() ? "" : ",", port);
    }
    return "redlock://" + members + "?timeout=1s&grace=0s";
  }
  test::FaultProxy* line() override { return &*proxy_; }
  LoadPlan plan() const override {
    return {.locks = {{.name = 1}, {.name = 2}, {.name = 3}},
            .least_ttl = 1s,
            .most_ttl = 3s,
            .queues = false};
  }
  std::string left_behind() override {
    std::string all;
    for (const auto& each : members_) all += faults::left_behind(*each, 8s);
    return all;
  }

  std::string_view trouble(SharedLog& log, Dice& dice) override {
    const auto which =
        static_cast<std::size_t>(dice.between(0, static_cast<std::int64_t>(members_.size()) - 1));
    test::RedisServer& member = *members_[which];
    const Time begin = log.now();
    const bool stops = dice.one_in(2);
    if (stops) {
      member.stop();
      dice.rest(20ms, 1500ms);
      member.cont();
    } else {
      member.kill();
      dice.rest(0us, 300ms);
      member.restart();
    }
    // Two that are away at once may be a majority; the bad line leads to the first one.
    const Time back = log.now() + reconnected_within;
    const bool is_alone = begin > back_at_ || which == last_;
    if (!is_alone) log.fault(What::unreachable, 0, begin, back);
    if (which != 0) note_bad_line(log, begin, back);
    back_at_ = back;
    last_ = which;
    return stops ? "member stopped" : "member restarted";
  }

 private:
  // Whoever goes by the bad line may have lost the first member as well.
  static void note_bad_line(SharedLog& log, Time begin, Time back) {
    log.fault(What::unreachable, 1, begin, back);
  }

  std::vector<std::unique_ptr<test::RedisServer>> members_;
  std::optional<test::FaultProxy> proxy_;
  std::size_t last_ = 0;
  Time back_at_ = 0;
};

}  // namespace

std::unique_ptr<Place> make_redlock_place() { return std::make_unique<RedlockPlace>(); }

}  // namespace holdfast::faults
