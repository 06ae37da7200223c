// SPDX-License-Identifier: Apache-2.0
//
// The smallest useful program: take a lock, work under it, give it back. README.md shows what
// stands between the two marks; a test compares.
// [readme]
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <iostream>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  // "memory:" is this process alone; "file:" is every process of this user on this machine.
  auto client = holdfast::open(argc > 1 ? argv[1] : "memory:");
  if (!client) {
    std::cerr << client.error().message << '\n';
    return 1;
  }

  // Ours for 30 s at a time, renewed in the background. Waits in line for up to 5 s.
  auto lease = client->mutex("orders:42").acquire({.ttl = 30s, .wait = 5s});
  if (!lease) {
    std::cerr << holdfast::to_string(lease.error().code) << ": " << lease.error().message << '\n';
    return 1;
  }

  // Hand the fence to what the lock protects, so that it can refuse a holder that comes too late.
  std::cout << "orders:42 is ours, fence " << lease->fence() << '\n';
  if (lease->lost().stop_requested()) std::cout << "no longer: stop here\n";

  return lease->release() ? 0 : 1;  // or let the lease go out of scope
}
// [/readme]
