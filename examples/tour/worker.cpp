// SPDX-License-Identifier: Apache-2.0
#include "worker.hpp"

#include <holdfast/holdfast.hpp>

#include <condition_variable>
#include <iostream>
#include <mutex>

namespace tour {

namespace {

using namespace std::chrono_literals;

void report(const Job& job, Event event, holdfast::Fence fence) {
  std::cout << job.name << ' ' << static_cast<char>(event) << ' ' << fence << '\n' << std::flush;
}

// Works until the time is over or the lease is lost, whichever comes first. A stop token ends the
// wait, so nothing here looks at a clock.
void work(std::chrono::milliseconds time, const std::stop_token& lost) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, lost, time, [] { return false; });
}

bool one_round(const holdfast::Client& client, const Job& job) {
  auto lease = client.mutex(lock_name).acquire({.ttl = job.ttl, .wait = 30s, .note = job.name});
  if (!lease) {
    std::cerr << job.name << ": " << lease.error().message << '\n';
    report(job, Event::failed, 0);
    return false;
  }
  const auto lost = lease->lost();
  report(job, Event::holds, lease->fence());
  work(job.hold, lost);
  if (lost.stop_requested()) report(job, Event::lost, lease->fence());
  // A careful program would not write after the signal. This one does, to show what a fence is for.
  report(job, Event::writes, lease->fence());
  if (lease->release()) report(job, Event::released, lease->fence());
  return true;
}

}  // namespace

int run_worker(const std::string& store, const Job& job) {
  const auto client = holdfast::open(store);
  if (!client) {
    std::cerr << job.name << ": " << client.error().message << '\n';
    return 1;
  }
  for (int round = 0; round < job.rounds; ++round) {
    if (!one_round(*client, job)) return 1;
  }
  return 0;
}

}  // namespace tour
