// SPDX-License-Identifier: Apache-2.0
#include "faults_redis/faults_fixture.hpp"

#include "history/check.hpp"
#include "history/jsonl.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace holdfast::faults {

namespace {

// Room for a connection that is made anew.
constexpr Micros calm_patience = 2500ms;
// More than a load has threads: each of them was served.
constexpr std::uint64_t grants_in_the_calm = 20;

std::string write_down(const history::History& history, const std::string& title) {
  const std::string path =
      fmt::format("{}holdfast-{}-{}.jsonl", testing::TempDir(), title, getpid());
  std::ofstream(path) << history::to_jsonl(history);
  return path;
}

}  // namespace

std::uint64_t choose_seed() {
  const char* const wanted = std::getenv("HOLDFAST_SEED");
  const std::uint64_t seed =
      wanted ? std::strtoull(wanted, nullptr, 10) : std::random_device{}() % 1'000'000;
  fmt::print("seed {}\n", seed);
  return seed;
}

std::string broken_promises(const SharedLog& log, const std::string& title) {
  history::History history = log.history();
  history.events.push_back({.at = log.now(), .what = What::ended});
  history::Checker checker;
  const auto violations = checker.check(history);
  if (violations.empty()) return {};
  const std::string where = title.empty() ? "a history" : write_down(history, title);
  std::string text = fmt::format("{} broken promises in {}\n", checker.found(), where);
  for (const auto& each : violations) {
    text += fmt::format("{}: {}\n", history::to_string(each.rule), each.why);
  }
  return text;
}

std::string left_behind(const test::RedisServer& server, std::chrono::milliseconds time_to_vanish) {
  test::RawRedis raw(server);
  std::string found;
  eventually(
      [&] {
        found.clear();
        const auto keys = raw.call({"KEYS", "*"});
        for (std::size_t i = 0; i < keys->elements; ++i) {
          const std::string key = keys->element[i]->str;
          if (key == "hf:fence") continue;
          found += fmt::format("{} (for {} ms)\n", key, raw.text({"PTTL", key}));
        }
        return found.empty();
      },
      time_to_vanish);
  return found;
}

std::vector<std::string> mixed_names() { return {"m1", "m2", "w1", "w2", "s1"}; }

std::vector<LockPlan> mixed_locks() {
  return {{.name = 1},
          {.name = 2},
          {.name = 3, .kind = Kind::read_write},
          {.name = 4, .kind = Kind::read_write},
          {.name = 5, .kind = Kind::semaphore, .capacity = 3}};
}

std::size_t waiting(test::RawRedis& raw, const std::string& name) {
  const auto all = raw.call({"ZRANGE", "hf:{" + name + "}:z", "0", "-1"});
  std::size_t waiters = 0;
  for (std::size_t i = 0; i < all->elements; ++i) {
    if (*all->element[i]->str == 'w') ++waiters;
  }
  return waiters;
}

std::uint64_t commands_sent(test::RawRedis& raw) {
  std::istringstream lines(raw.text({"INFO", "commandstats"}));
  std::uint64_t sum = 0;
  for (std::string line; std::getline(lines, line);) {
    const bool is_sent = line.starts_with("cmdstat_eval:") || line.starts_with("cmdstat_evalsha:");
    const auto calls = line.find("calls=");
    if (is_sent && calls != std::string::npos) sum += std::stoull(line.substr(calls + 6));
  }
  return sum;
}

void FaultsTest::TearDown() {
  std::string title = testing::UnitTest::GetInstance()->current_test_info()->name();
  std::ranges::replace(title, '/', '-');
  EXPECT_EQ(left_behind(*store), "") << "seed " << seed;
  EXPECT_EQ(broken_promises(log, title), "") << "seed " << seed;
}

Client FaultsTest::must_open(const std::string& url) {
  constexpr ProcessId last_process = 8;
  if (!stalls_) stalls_.emplace(log, 1, last_process);
  auto client = open(url);
  if (!client) throw std::runtime_error(client.error().message);
  return std::move(*client);
}

std::unique_ptr<Load> FaultsTest::start_load(LoadPlan plan) {
  if (plan.locks.empty()) plan.locks = mixed_locks();
  if (!stalls_) stalls_.emplace(log, 1, 1);
  if (plan.urls.empty()) plan.urls = {server.url()};
  return std::make_unique<Load>(log, std::move(plan), dice.seed());
}

void FaultsTest::note_calm() {
  const Time now = log.now();
  const Time patience = std::chrono::nanoseconds(at_most(calm_patience)).count();
  log.add({.at = now, .until = now + patience, .what = What::calm});
}

Load::Totals FaultsTest::end_load(Load& load, std::uint64_t least_grants) {
  load.calm_down();
  note_calm();
  const auto enough = std::max(least_grants, load.grants() + grants_in_the_calm);
  EXPECT_TRUE(eventually([&] { return load.grants() >= enough; }))
      << load.grants() << " grants, and no more; seed " << seed;
  const auto watch = stopwatch();
  auto totals = load.end();
  // The longest of all waits is three seconds, and everybody is served long before.
  EXPECT_LT(watch.time(), at_most(4s)) << "somebody was stuck; seed " << seed;
  for (const auto& each : totals.complaints) ADD_FAILURE() << each << "; seed " << seed;
  fmt::print("{} grants, {} upgrades, {} refusals, {} losses, {} increments\n", totals.grants,
             totals.upgrades, totals.refusals, totals.losses, totals.increments);
  return totals;
}

}  // namespace holdfast::faults
