// SPDX-License-Identifier: Apache-2.0
//
// Three candidates, one leader at a time. The leader publishes its address; the others follow it,
// and one of them takes over when it steps down.
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <syncstream>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace {

void lead(const std::string& name, const holdfast::Lease& term) {
  std::osyncstream(std::cout) << name << " leads, term " << term.fence() << '\n';
  // A leader works only while its lease holds. lost() tells it before another one can lead.
  const auto end = std::chrono::steady_clock::now() + 100ms;
  while (!term.lost().stop_requested() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(10ms);
  }
  std::osyncstream(std::cout) << name << " steps down\n";
}

void candidate(const holdfast::Client& client, const std::string& name) {
  auto election = client.election("scheduler");
  auto term = election.campaign("http://" + name + ":8080", {.ttl = 5s, .wait = 10s});
  if (!term) {
    std::osyncstream(std::cerr) << name << ": " << term.error().message << '\n';
    return;
  }
  lead(name, *term);
}

void follow(const holdfast::Client& client) {
  std::string known;
  for (int looks = 0; looks < 40; ++looks) {
    const auto leader = client.election("scheduler").leader();
    if (leader && *leader && **leader != known) {
      known = **leader;
      std::osyncstream(std::cout) << "  followers talk to " << known << '\n';
    }
    std::this_thread::sleep_for(10ms);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto client = holdfast::open(argc > 1 ? argv[1] : "memory:");
  if (!client) {
    std::cerr << client.error().message << '\n';
    return 1;
  }
  std::vector<std::jthread> candidates;
  for (const std::string name : {"ada", "ben", "cleo"}) {
    candidates.emplace_back([&client, name] { candidate(*client, name); });
  }
  follow(*client);
}
