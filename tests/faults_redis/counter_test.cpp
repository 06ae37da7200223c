// SPDX-License-Identifier: Apache-2.0
//
// A counter that only the lock protects, and that checks fences.
#include "faults_redis/crew.hpp"
#include "faults_redis/faults_fixture.hpp"
#include "faults_redis/trouble.hpp"

#include <algorithm>

namespace holdfast::faults {

namespace {

class Counter : public FaultsTest {
 protected:
  static constexpr ProcessId processes = 4;
  Counter() : FaultsTest({"counter"}) {
    for (ProcessId i = 1; i <= processes; ++i) {
      LoadPlan plan{.locks = {{.name = 1}}, .clients = 1, .threads = 4, .first_process = i};
      crews.push_back(std::make_unique<Crew>(log, plan, dice.seed()));
    }
  }
  std::int64_t accepted_writes() const {
    const auto history = log.history();
    return std::ranges::count_if(history.events, [](const Event& event) {
      return event.what == What::wrote && event.accepted;
    });
  }

 public:
  std::vector<std::unique_ptr<Crew>> crews;
};

TEST_F(Counter, counts_every_increment_that_was_acknowledged_through_any_fault_of_the_line) {
  test::FaultProxy proxy(server.port());
  for (const auto& crew : crews) {
    ASSERT_TRUE(crew->start("redis://127.0.0.1:" + std::to_string(proxy.port())));
  }
  const Time end = log.now() + 3000 * millisecond;
  while (log.now() < end) {
    strike(proxy, static_cast<LineFault>(dice.between(0, line_faults - 1)), log, dice);
    dice.rest(0us, 150ms);
  }
  for (const auto& crew : crews) crew->calm_down();
  note_calm();
  // More than there are threads: each of them was served.
  const auto enough = log.value_of(1) + 20;
  EXPECT_TRUE(eventually([&] { return log.value_of(1) >= enough; }));
  std::uint64_t acknowledged = 0;
  for (const auto& crew : crews) {
    const auto counts = crew->end();
    EXPECT_GT(counts.grants, 0U);
    EXPECT_EQ(counts.complaints, 0U);
    acknowledged += counts.increments;
  }
  EXPECT_GT(acknowledged, 20U);
  EXPECT_EQ(log.value_of(1), static_cast<std::int64_t>(acknowledged));
  EXPECT_EQ(accepted_writes(), static_cast<std::int64_t>(acknowledged));
}

}  // namespace

}  // namespace holdfast::faults
