// SPDX-License-Identifier: Apache-2.0
//
// Threads that take locks of every kind, work under them and give them back, until they are told to
// end. What they do is decided by a seed; what comes of it is in the log.
#pragma once

#include "faults_redis/caller.hpp"
#include "faults_redis/stall_watch.hpp"

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace holdfast::faults {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  // Both ends included.
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  bool one_in(std::int64_t many) { return between(1, many) == 1; }
  Micros time(Micros least, Micros most) { return Micros(between(least.count(), most.count())); }
  // The pace of a load and of its troubles: does nothing for so long.
  void rest(Micros least, Micros most) { std::this_thread::sleep_for(time(least, most)); }
  std::uint64_t seed() { return random_(); }

 private:
  std::mt19937_64 random_;
};

// Requests a stop at a given time, on a thread of its own.
class Canceller {
 public:
  Canceller();
  Canceller(const Canceller&) = delete;
  Canceller& operator=(const Canceller&) = delete;
  ~Canceller();
  std::stop_token after(Micros delay);

 private:
  using Clock = std::chrono::steady_clock;
  void run(const std::stop_token& stop);

  std::mutex mutex_;
  std::multimap<Clock::time_point, std::stop_source> due_;  // guarded by mutex_
  std::condition_variable_any added_;
  std::jthread thread_;
};

struct LoadPlan {
  std::vector<LockPlan> locks;
  std::vector<std::string> urls;  // each client opens one of them
  unsigned clients = 2;
  unsigned threads = 4;  // of each client
  Micros least_ttl = std::chrono::milliseconds(300);
  Micros most_ttl = std::chrono::milliseconds(900);
  Micros patience = std::chrono::seconds(3);
  bool queues = true;           // who waits has a place, and is served within some time
  ProcessId first_process = 1;  // of the clients, in the history
};

class Load {
 public:
  struct Totals {
    std::uint64_t grants = 0;
    std::uint64_t refusals = 0;
    std::uint64_t losses = 0;
    std::uint64_t increments = 0;
    std::uint64_t upgrades = 0;
    std::vector<std::string> complaints;  // a call that took longer than it may
  };

  // Throws when a client cannot be opened.
  Load(SharedLog& log, LoadPlan plan, std::uint64_t seed);
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  ~Load();

  // From here on nobody holds a lock for long.
  void calm_down() { is_calm_ = true; }
  // So far.
  std::uint64_t grants() const { return grants_; }
  // Ends every thread after what it does now.
  Totals end();

 private:
  void work(Caller& caller, std::uint64_t seed);
  void once(Caller& caller, Dice& dice, Totals& mine);
  Want want(Dice& dice) const;
  void use(Caller& caller, Caller::Hold& hold, Dice& dice, Totals& mine);
  void vary(Caller& caller, Caller::Hold& hold, Dice& dice, Totals& mine);

  SharedLog& log_;
  const LoadPlan plan_;
  std::atomic<bool> is_calm_ = false;
  std::atomic<bool> must_end_ = false;
  std::atomic<std::uint64_t> grants_ = 0;
  Canceller canceller_;
  std::vector<std::unique_ptr<Caller>> callers_;
  std::mutex mutex_;
  Totals totals_;  // guarded by mutex_
  std::vector<std::thread> threads_;
  StallWatch stalls_;
};

}  // namespace holdfast::faults
