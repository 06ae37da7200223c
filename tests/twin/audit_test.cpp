// SPDX-License-Identifier: Apache-2.0
//
// The trail beside a lock of a store that was opened with audit=N.
#include "real_lock.hpp"

#include <gmock/gmock.h>

namespace holdfast::test {
namespace {

using testing::ElementsAre;

class Audit : public RealLock {
 protected:
  static constexpr std::uint32_t kept = 100;

  Audit() {
    use({.dialect = {}, .audit = kept, .prelude = {}});
    spec_ = model::LockSpec::read_write();
  }

  std::vector<std::string> events() {
    std::vector<std::string> all;
    const auto reply = redis_.call({"XRANGE", key() + ":log", "-", "+"});
    for (std::size_t i = 0; i < reply->elements; ++i) {
      const redisReply& fields = *reply->element[i]->element[1];
      all.emplace_back(fields.element[1]->str);
    }
    return all;
  }
};

TEST_F(Audit, every_change_of_hands_is_noted) {
  RawRedis listener(server_);
  listener.call({"SUBSCRIBE", backends::redis::channel_of(model::ProcessId{1})});
  granted(acquire({.owner = "ann", .permits = 1}));
  granted(acquire({.owner = "ann", .request = 2, .converts = 1}));
  granted(acquire({.owner = "ann", .request = 3, .permits = 1, .converts = 1}));
  queued(acquire({.owner = "ben", .wait = true, .process = 1}));
  release("ann");
  force_release();
  EXPECT_THAT(events(),
              ElementsAre("granted", "upgraded", "downgraded", "released", "granted", "forced"));
}

TEST_F(Audit, old_events_go_and_the_trail_ends_a_day_after_the_last) {
  for (int i = 0; i < 500; ++i) {
    acquire({.owner = "ann"});
    release("ann");
  }
  // Redis cuts whole nodes of a hundred events or so.
  EXPECT_LE(redis_.integer({"XLEN", key() + ":log"}), kept + 200);
  EXPECT_GE(redis_.integer({"XLEN", key() + ":log"}), kept);
  const auto left_ms = redis_.integer({"PTTL", key() + ":log"});
  EXPECT_GT(left_ms, 86'000'000);
  EXPECT_LE(left_ms, 86'400'000);
}

}  // namespace
}  // namespace holdfast::test
