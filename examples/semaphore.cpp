// SPDX-License-Identifier: Apache-2.0
//
// Eight jobs, at most three at a time, whichever process or thread they run in. A heavy job takes
// two permits at once.
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <chrono>
#include <iostream>
#include <string>
#include <syncstream>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t permits = 3;

std::atomic<std::uint32_t> in_use{0};
std::atomic<bool> all_well{true};

void job(const holdfast::Client& client, int number) {
  const std::uint32_t weight = number == 4 ? 2 : 1;
  auto lease = client.semaphore("encoder", permits)
                   .acquire({.wait = 10s, .permits = weight, .note = std::to_string(number)});
  if (!lease) {
    std::osyncstream(std::cerr) << "job " << number << ": " << lease.error().message << '\n';
    all_well = false;
    return;
  }
  const std::uint32_t now = in_use += weight;
  std::osyncstream(std::cout) << "job " << number << " works, " << now << " of " << permits
                              << " permits in use\n";
  if (now > permits) all_well = false;
  std::this_thread::sleep_for(100ms);
  in_use -= weight;
}

}  // namespace

int main(int argc, char** argv) {
  const auto client = holdfast::open(argc > 1 ? argv[1] : "memory:");
  if (!client) {
    std::cerr << client.error().message << '\n';
    return 1;
  }
  {
    std::vector<std::jthread> jobs;
    for (int number = 1; number <= 8; ++number) {
      jobs.emplace_back([&client, number] { job(*client, number); });
    }
  }
  return all_well ? 0 : 1;
}
