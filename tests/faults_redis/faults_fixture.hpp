// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "faults_redis/load.hpp"
#include "support/redis_server.hpp"
#include "support/timing.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace holdfast::faults {

using namespace std::chrono_literals;
using test::at_most;
using test::eventually;

// A seed of its own for each run, printed; HOLDFAST_SEED=n repeats one.
std::uint64_t choose_seed();

// What a history breaks, a sentence for each; "" if nothing. Writes the history to a file that
// tools/check_history reads, and names it, if there is something to say and the title is not empty.
std::string broken_promises(const SharedLog& log, const std::string& title);

// What is left in the database besides the counter, although it had time to vanish; "" if nothing.
std::string left_behind(const test::RedisServer& server,
                        std::chrono::milliseconds time_to_vanish = 4s);

// The names m1, m2, w1, w2 and s1, two mutexes, two read-write locks and a semaphore of three.
std::vector<std::string> mixed_names();
std::vector<LockPlan> mixed_locks();

// How many wait for a lock, as Redis has it.
std::size_t waiting(test::RawRedis& raw, const std::string& name);

// How many commands clients sent so far, by INFO commandstats: what a script calls is not counted.
std::uint64_t commands_sent(test::RawRedis& raw);

// A server of its own, and a history that is checked when the test ends.
class FaultsTest : public testing::Test {
 protected:
  explicit FaultsTest(std::vector<std::string> names = mixed_names(),
                      std::vector<std::string> arguments = {},
                      std::vector<std::string> environment = {})
      : log(std::move(names)), server(std::move(arguments), std::move(environment)) {}
  void TearDown() override;

  // Begins to watch for stalls, too: no process is forked after this.
  Client must_open(const std::string& url);
  Client must_open() { return must_open(server.url()); }
  std::unique_ptr<Load> start_load(LoadPlan plan = {});
  // A calm time in which everybody must be served, then the end. It is as long as it takes until
  // there were so many grants in all, and some of them in the calm: a slow machine shall be slow,
  // but a load that stands fails.
  Load::Totals end_load(Load& load, std::uint64_t least_grants = 0);
  void note_calm();

  // Time that passes while the machine lets us run.
  class Stopwatch {
   public:
    explicit Stopwatch(const StallWatch* stalls) : stalls_(stalls), lost_(lost()) {}
    Micros time() const {
      const auto passed = std::chrono::steady_clock::now() - begin_;
      return std::chrono::duration_cast<Micros>(passed) - (lost() - lost_);
    }

   private:
    Micros lost() const { return stalls_ ? stalls_->lost() : Micros::zero(); }
    const StallWatch* stalls_;
    const Micros lost_;
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  };
  Stopwatch stopwatch() const { return Stopwatch(stalls_ ? &*stalls_ : nullptr); }
  // For the tests, which name them often.
 public:
  SharedLog log;
  test::RedisServer server;
  const std::uint64_t seed = choose_seed();
  Dice dice{seed};
  // Where nothing may be left when the test ends.
  const test::RedisServer* store = &server;

 private:
  std::optional<StallWatch> stalls_;
};

}  // namespace holdfast::faults
