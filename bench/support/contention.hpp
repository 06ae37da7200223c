// SPDX-License-Identifier: Apache-2.0
//
// Workers in one or several processes that all want one lock, whatever kind of lock it is.
#pragma once

#include "support/bars.hpp"
#include "support/processes.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace holdfast::bench {

struct Crowd {
  std::size_t workers;
  std::size_t processes;
  std::size_t turns;  // of each worker, on average
  std::size_t acquisitions() const { return workers * turns; }
};

inline constexpr std::size_t most_workers = 100;
inline constexpr std::size_t most_acquisitions = 4000;
inline constexpr std::int64_t hold_ns = 1'000'000;

// `ready`, `go` and `stop` apart, everything is written by the holder of the lock alone.
struct CrowdTable {
  std::atomic<std::uint32_t> ready;
  std::atomic<bool> go;
  std::atomic<bool> stop;
  std::atomic<bool> taken;
  std::atomic<std::int64_t> released_ns;  // when the last holder began to give it back
  std::atomic<std::size_t> last_holder;
  std::atomic<std::uint64_t> total;
  std::atomic<std::uint64_t> after_stop;  // acquisitions nobody measures
  std::atomic<std::uint64_t> hand_overs;
  std::array<std::atomic<std::uint32_t>, most_workers> acquired;
  std::array<std::int64_t, most_acquisitions> waits_ns;      // acquire called to acquire returned
  std::array<std::int64_t, most_acquisitions> handovers_ns;  // release called to acquire returned
};

// One turn that counts: notes it and holds the lock until a millisecond has passed.
void take_turn(CrowdTable& table, const Crowd& crowd, std::size_t worker, std::int64_t asked_ns);

// `lock.acquire()` and `lock.release()` end the program if they fail.
template <typename Lock>
void work(CrowdTable& table, const Crowd& crowd, std::size_t worker, Lock lock) {
  table.ready += 1;
  while (!table.go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  while (!table.stop) {
    const std::int64_t asked = monotonic_ns();
    lock.acquire();
    if (table.taken.exchange(true)) give_up("two workers hold the lock");
    take_turn(table, crowd, worker, asked);
    table.taken = false;
    table.released_ns = monotonic_ns();
    lock.release();
  }
}

struct CrowdResult {
  double hand_overs_per_s = 0;
  double fairness = 0;  // fewest acquisitions of a worker / most
  double all_acquisitions = 0;
  double longest_handover_us = 0;  // of all
  // Without the first round.
  std::vector<double> waits_us;
  std::vector<double> handovers_us;
};

// Waits until all are ready, lets them go, and waits until enough has been done.
CrowdResult watch(CrowdTable& table, const Crowd& crowd, Children& children);

// Forks the processes. In each, `open()` makes what its workers share (a client, or nothing), and
// `lock_of(shared)` the lock of one worker.
template <typename Open, typename LockOf>
CrowdResult run_crowd(const Crowd& crowd, const Open& open, const LockOf& lock_of) {
  const Shared<CrowdTable> table;
  table->last_holder = crowd.workers;
  Children children(crowd.processes, [&](std::size_t process) {
    auto shared = open();
    std::vector<std::thread> threads;
    for (std::size_t worker = process; worker < crowd.workers; worker += crowd.processes) {
      threads.emplace_back([&, worker] { work(*table, crowd, worker, lock_of(shared)); });
    }
    for (std::thread& thread : threads) thread.join();
  });
  return watch(*table, crowd, children);
}

}  // namespace holdfast::bench
