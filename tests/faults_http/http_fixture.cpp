// SPDX-License-Identifier: Apache-2.0
#include "http_fixture.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::faults {

namespace {

constexpr Micros calm_time = 4s;  // room for a silent connection to be given up
constexpr std::uint64_t served_in_the_calm = 20;

}  // namespace

void HttpFaultsTest::TearDown() {
  const std::string title = testing::UnitTest::GetInstance()->current_test_info()->name();
  EXPECT_EQ(left_behind(), "") << "seed " << seed;
  EXPECT_EQ(broken_promises(log, title), "") << "seed " << seed;
}

Client HttpFaultsTest::must_open() {
  constexpr ProcessId last_process = 8;
  if (!stalls_) stalls_.emplace(log, 1, last_process);
  auto client = open(proxy.url());
  if (!client) throw std::runtime_error(client.error().message);
  return std::move(*client);
}

std::unique_ptr<Load> HttpFaultsTest::start_load(LoadPlan plan) {
  if (plan.locks.empty()) plan.locks = mixed_locks();
  plan.urls = {proxy.url()};
  return std::make_unique<Load>(log, std::move(plan), dice.seed());
}

Load::Totals HttpFaultsTest::end_load(Load& load, std::uint64_t least_grants) {
  load.calm_down();
  const Time now = log.now();
  const Time patience = std::chrono::nanoseconds(at_most(calm_time)).count();
  log.add({.at = now, .until = now + patience, .what = What::calm});
  expect_grants(load, served_in_the_calm);
  EXPECT_TRUE(eventually([&] { return load.grants() >= least_grants; }));
  auto totals = load.end();
  for (const auto& each : totals.complaints) ADD_FAILURE() << each << "; seed " << seed;
  fmt::print("{} grants, {} upgrades, {} refusals, {} losses, {} increments; {} requests spoiled\n",
             totals.grants, totals.upgrades, totals.refusals, totals.losses, totals.increments,
             proxy.counts().spoiled);
  return totals;
}

void HttpFaultsTest::expect_grants(const Load& load, std::uint64_t more) {
  const auto enough = load.grants() + more;
  EXPECT_TRUE(eventually([&] { return load.grants() >= enough; }));
}

void HttpFaultsTest::stall(Micros time) {
  const Time begin = log.now();
  server.stop();
  std::this_thread::sleep_for(time);
  server.go_on();
  log.add({.at = begin, .until = log.now(), .what = What::unreachable, .delays = true});
}

std::string HttpFaultsTest::left_behind() {
  proxy.all_well();
  const auto client = open(server.url());
  if (!client) return client.error().message;
  std::string found;
  eventually(
      [&] {
        found.clear();
        const auto page = client->list();
        if (!page) return false;
        for (const auto& each : page->locks) {
          if (each.holders.empty() && each.waiters.empty()) continue;
          found += fmt::format("{}: {} holders, {} waiters\n", each.name, each.holders.size(),
                               each.waiters.size());
        }
        return found.empty();
      },
      10s);
  return found;
}

}  // namespace holdfast::faults
