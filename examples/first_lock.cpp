// SPDX-License-Identifier: Apache-2.0
//
// The smallest useful program: take a lock, work under it, give it back.
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>

using namespace std::chrono_literals;

namespace {

int report(const holdfast::Error& error) {
  std::cerr << holdfast::to_string(error.code) << ": " << error.message << '\n';
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  // Without a URL the locks live in this process; "file:" shares them with the whole machine.
  auto client = holdfast::open(argc > 1 ? argv[1] : "memory:");
  if (!client) return report(client.error());

  auto lease = client->mutex("orders:42").acquire({.ttl = 30s, .wait = 5s});
  if (!lease) return report(lease.error());

  // A resource that remembers the highest fence it has seen can refuse a holder that came too late.
  std::cout << "orders:42 is ours, fence " << lease->fence() << '\n';

  if (auto released = lease->release(); !released) return report(released.error());
  std::cout << "and free again\n";
  return EXIT_SUCCESS;
}
