// SPDX-License-Identifier: Apache-2.0
//
// Four ways to meet a lock that somebody else holds: fail fast, wait in line, ask again and again,
// and wait until somebody tells us to stop.
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <iostream>
#include <string_view>
#include <thread>

using namespace std::chrono_literals;

namespace {

using holdfast::Client;
using holdfast::Lease;
using holdfast::Result;

void show(std::string_view how, const Result<Lease>& lease) {
  std::cout << how << ": ";
  if (lease)
    std::cout << "ours, fence " << lease->fence() << '\n';
  else
    std::cout << holdfast::to_string(lease.error().code) << ", " << lease.error().message << '\n';
}

// Holds the lock for a while on a thread of its own. The lease moves there with the thread.
std::jthread hold_for(std::chrono::milliseconds time, Result<Lease> lease) {
  return std::jthread([time, lease = std::move(lease)] { std::this_thread::sleep_for(time); });
}

void fail_fast(const Client& client) { show("try", client.mutex("report").try_acquire()); }

// The store keeps the queue and wakes whoever is next.
void wait_in_line(const Client& client) {
  show("wait too short", client.mutex("report").acquire({.wait = 20ms}));
  show("wait", client.mutex("report").acquire({.wait = 5s}));
}

// Without a place in the queue: 50, 100, 200 ms … between two tries. For a lock that others may
// take first, and for stores that cannot keep a queue.
void ask_again(const Client& client) {
  show("retry", client.mutex("report").acquire({.wait = 5s, .retry = true}));
}

void wait_until_told_to_stop(const Client& client) {
  std::stop_source stop;
  const std::jthread somebody([&] {
    std::this_thread::sleep_for(50ms);
    stop.request_stop();
  });
  show("cancelled wait", client.mutex("report").acquire({.wait = 1h}, stop.get_token()));
}

}  // namespace

int main(int argc, char** argv) {
  const auto client = holdfast::open(argc > 1 ? argv[1] : "memory:");
  if (!client) {
    std::cerr << client.error().message << '\n';
    return 1;
  }
  {
    const auto holder = hold_for(200ms, client->mutex("report").acquire({.note = "holder"}));
    fail_fast(*client);
    wait_in_line(*client);
  }
  {
    const auto holder = hold_for(200ms, client->mutex("report").acquire({.note = "holder"}));
    ask_again(*client);
  }
  const auto holder = hold_for(200ms, client->mutex("report").acquire({.note = "holder"}));
  wait_until_told_to_stop(*client);
}
