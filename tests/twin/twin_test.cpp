// SPDX-License-Identifier: Apache-2.0
//
// The step as it is defined (src/model) and as it runs inside Redis (src/backends/redis/lua),
// driven alike by careless clients, and compared after each command: what is answered, what is told
// to whom, and the state that is left behind. Both get the same clock, which the test moves.
//
// A failure prints the seed of its history: TWIN_SEED=n repeats that one. TWIN_HISTORIES=n makes
// each walk longer than `make test` has the time for.
#include "clients.hpp"
#include "compare.hpp"
#include "describe.hpp"
#include "model/admission.hpp"
#include "model/step.hpp"
#include "support/ask.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>
#include <set>

namespace holdfast::test {
namespace {

using backends::redis::Dialect;
using model::LockCommand;
using model::LockSpec;
using model::ProcessId;
using model::StoreTime;

constexpr std::uint64_t first_seed = 20'261'116;
constexpr int rounds_per_history = 300;

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* given = std::getenv(name);
  return given != nullptr ? std::strtoull(given, nullptr, 10) : otherwise;
}

class TwinWorld final : public model::World {
 public:
  TwinWorld(StoreTime now, model::FenceCounter& fences, const std::set<ProcessId>& listening)
      : World(now, static_cast<std::uint64_t>(now.time_since_epoch().count()), fences),
        listening_(listening) {}
  bool reachable(ProcessId process) override { return listening_.contains(process); }

 private:
  const std::set<ProcessId>& listening_;
};

struct Lock {
  LockName name;
  Clients clients;
  model::LockState state;
};

std::vector<Lock> make_locks(const std::vector<LockSpec>& specs, std::uint64_t seed,
                             bool is_native) {
  const std::string names[] = {
      "orders",   "orders:42", "{braces}",  "a } b {*?[",
      "Größe 鎖", "hf:fence",  "orders}:r", std::string(max_name_bytes, 'n')};
  std::vector<Lock> locks;
  for (const auto& name : names) {
    const auto& spec = specs[locks.size() % specs.size()];
    locks.push_back(
        {LockName::make(name).value(), Clients(spec, seed * 100 + locks.size(), !is_native), {}});
  }
  return locks;
}

struct Walk {
  const char* name;
  std::vector<LockSpec> specs;
  std::uint32_t audit = 0;
  Dialect dialect{};
  std::uint64_t histories = 4;

  friend std::ostream& operator<<(std::ostream& out, const Walk& walk) { return out << walk.name; }
};

// The numbers in a command, as Redis counts.
LockCommand in_numbers_of_redis(LockCommand command, const Numbers& numbers) {
  if (auto* acquire = std::get_if<model::Acquire>(&command.verb)) {
    acquire->place = numbers.to_redis(acquire->place);
    acquire->known = numbers.to_redis(acquire->known);
  }
  if (auto* renew = std::get_if<model::Renew>(&command.verb)) {
    renew->fence = numbers.to_redis(renew->fence);
  }
  if (auto* release = std::get_if<model::Release>(&command.verb)) {
    release->up_to = numbers.to_redis(release->up_to);
  }
  if (auto* force = std::get_if<model::ForceRelease>(&command.verb)) {
    force->up_to = numbers.to_redis(force->up_to);
  }
  return command;
}

// One seed: some locks beside each other, which share a clock, a counter and the processes.
class History {
 public:
  History(const Walk& walk, std::uint64_t seed, RedisSide& redis)
      : redis_(redis),
        dialect_(walk.dialect),
        random_(seed),
        locks_(make_locks(walk.specs, seed, walk.dialect.is_native())) {
    redis_.forget_everything();
    redis_.move_clock(now_);
    for (const auto process : processes) set_listening(process, true);
  }
  ~History() {
    for (const auto process : processes) set_listening(process, false);
  }
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  // One command for each lock; what went wrong, if anything.
  std::optional<std::string> round() {
    redis_.move_clock(now_ += time_that_passes());
    if (below(8) == 0) toggle(processes[below(processes.size())]);
    std::vector<LockCommand> commands;
    std::vector<Step> steps;
    for (Lock& lock : locks_) {
      commands.push_back(lock.clients.next());
      steps.push_back({lock.name,
                       in_numbers_of_redis(commands.back(), numbers_),
                       {.by_text = below(100) == 0, .compare_clock = below(10) == 0}});
    }
    auto answers = redis_.round(steps);
    for (std::size_t i = 0; i < locks_.size(); ++i) {
      if (auto wrong = judge(locks_[i], commands[i], std::move(answers[i]))) return wrong;
    }
    return std::nullopt;
  }

  // How many keys Redis still has when everything has ended.
  std::uint64_t keys_left_at_last() {
    now_ += std::chrono::hours(25);
    return redis_.move_clock(now_);
  }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }

  Micros time_that_passes() {
    const auto dice = below(1000);
    if (dice < 500) return 0us;
    if (dice < 800) return std::chrono::milliseconds(below(30));
    if (dice < 985) return std::chrono::milliseconds(below(300));
    return std::chrono::milliseconds(below(12'000));
  }

  void toggle(ProcessId process) { set_listening(process, !listening_.contains(process)); }
  void set_listening(ProcessId process, bool wanted) {
    if (wanted == listening_.contains(process)) return;
    if (wanted) {
      redis_.listen(process);
      listening_.insert(process);
    } else {
      redis_.stop_listening(process);
      listening_.erase(process);
    }
  }

  std::optional<std::string> judge(Lock& lock, const LockCommand& command, StepAnswer answer) {
    const auto admitted = model::admissible(command);
    if (!admitted) return "not admissible: " + admitted.error().message;
    const model::LockState before = lock.state;
    TwinWorld world(now_, fences_, listening_);
    auto outcome = model::step(lock.state, command, world);
    lock.clients.heard(command, outcome);
    for (const auto& message : world.messages) lock.clients.heard(message);
    const Expected expected{now_, std::move(outcome), std::move(world.messages), lock.state};
    const auto shared = std::move(answer.shared);
    auto wrong = difference(expected, std::move(answer), numbers_);
    if (!wrong && !dialect_.is_native()) {
      const Micros unit = std::chrono::milliseconds(dialect_.profile().unit_ms);
      const bool is_look = std::holds_alternative<model::Inspect>(command.verb);
      wrong = difference(lock.state, now_, shared, unit, is_look);
    }
    if (!wrong) return std::nullopt;
    return fmt::format("{}\nlock {}\nbefore, as the model has it:\n{}\n{}", describe(command),
                       lock.name.str(), describe(before, now_), *wrong);
  }

  RedisSide& redis_;
  const Dialect dialect_;
  std::mt19937_64 random_;
  std::vector<Lock> locks_;
  StoreTime now_{1'700'000'000s};
  model::FenceCounter fences_;
  std::set<ProcessId> listening_;
  Numbers numbers_;
};

class Twin : public testing::TestWithParam<Walk> {};

TEST_P(Twin, the_script_does_what_the_model_says) {
  const auto seed = number_from_environment("TWIN_SEED", first_seed);
  const bool only_one = std::getenv("TWIN_SEED") != nullptr;
  const auto count = only_one ? 1 : number_from_environment("TWIN_HISTORIES", GetParam().histories);
  std::cout << "seeds " << seed << " to " << seed + count - 1 << '\n';
  RedisSide redis(GetParam().audit, GetParam().dialect);
  for (auto each = seed; each < seed + count; ++each) {
    History history(GetParam(), each, redis);
    for (int round = 0; round < rounds_per_history; ++round) {
      const auto wrong = history.round();
      ASSERT_FALSE(wrong.has_value()) << "seed " << each << ", round " << round << '\n' << *wrong;
    }
    constexpr std::uint64_t clock_and_counter = 2;
    ASSERT_EQ(history.keys_left_at_last(), clock_and_counter) << "seed " << each;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Twin,
    testing::Values(
        Walk{"mutex_fifo", {LockSpec::mutex(Order::fifo)}},
        Walk{"mutex_barging", {LockSpec::mutex(Order::barging)}},
        Walk{"mutex_automatic", {LockSpec::mutex()}},
        Walk{"reentrant_fifo", {LockSpec::reentrant(Order::fifo)}},
        Walk{"reentrant_barging", {LockSpec::reentrant(Order::barging)}},
        Walk{"read_write_fifo", {LockSpec::read_write(Order::fifo)}},
        Walk{"read_write_barging", {LockSpec::read_write(Order::barging)}},
        Walk{"semaphore_fifo", {LockSpec::semaphore(3, Order::fifo)}},
        Walk{"semaphore_barging", {LockSpec::semaphore(3, Order::barging)}},
        Walk{"semaphore_of_many", {LockSpec::semaphore(all_permits - 1)}},
        Walk{"election", {LockSpec::election()}},
        Walk{"audited", {LockSpec::mutex(), LockSpec::read_write(), LockSpec::semaphore(3)}, 5}),
    [](const auto& param) { return param.param.name; });

Walk shared(const char* name, LockSpec spec, std::string_view dialect, std::string_view profile) {
  // Not bare names: one of these is the key of the counter.
  return {.name = name,
          .specs = {spec},
          .dialect = Dialect::make(dialect, profile, "app:*:lock").value(),
          .histories = 2};
}

INSTANTIATE_TEST_SUITE_P(
    Dialects, Twin,
    testing::Values(shared("plain", LockSpec::mutex(), "plain", "valkey"),
                    shared("plain_barging", LockSpec::mutex(Order::barging), "plain", "valkey"),
                    shared("plain_seconds", LockSpec::mutex(), "plain", "laravel"),
                    shared("forrst", LockSpec::mutex(), "plain", "forrst"),
                    shared("counter", LockSpec::mutex(), "counter", "n8n"),
                    shared("redisson", LockSpec::reentrant(), "reentrant_hash", "redisson"),
                    shared("client_count", LockSpec::reentrant(), "reentrant_hash", "valkey")),
    [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace holdfast::test
