// SPDX-License-Identifier: Apache-2.0
//
// Orders that are charged under a lock of their own, whichever process or thread charges them.
#include <holdfast/holdfast.hpp>
#include <holdfast/locked.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace {

struct OrderId {
  int number = 0;
};
std::string to_string(OrderId id) { return std::to_string(id.number); }

}  // namespace

int main(int argc, char** argv) {
  const auto client = holdfast::open(argc > 1 ? argv[1] : "memory:");
  if (!client) {
    std::cerr << client.error().message << '\n';
    return 1;
  }
  // Waits in line for up to five seconds. An error says why it did not run.
  const auto charge = holdfast::locked(
      *client, "order:{}", {.ttl = 30s, .wait = 5s}, [](OrderId id, const holdfast::Lease& lease) {
        std::cout << "charging order " + to_string(id) + " with fence " +
                         std::to_string(lease.fence()) + "\n";
        return id.number * 100;
      });
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        if (const auto cents = charge(OrderId{7}); !cents)
          std::cerr << cents.error().message << '\n';
      });
    }
  }

  // Somebody else does it already: then it need not be done.
  const auto holder = client->mutex("report:daily").acquire();
  const auto report = holdfast::locked(
      *client, "report:{}", {}, [](const std::string& name) { std::cout << name << " report\n"; },
      holdfast::skip_if_busy);
  const auto ran = report("daily");
  if (ran) std::cout << (*ran ? "ran\n" : "somebody else makes the daily report\n");

  // Tries three times, with pauses; then the handler decides.
  const auto stock = holdfast::locked(
      *client, "report:{}", {.retry = {.attempts = 3, .first = 20ms}},
      [](const std::string&) { return 12; }, holdfast::or_else([](const holdfast::Error& error) {
        std::cout << "the old number will do: " << error.message << '\n';
        return 11;
      }));
  const auto number = stock("daily");
  std::cout << "in stock: " << number.value_or(-1) << '\n';

  // An orderly end: nothing of ours stays behind.
  const auto released = client->release_all();
  const auto counted = client->metrics();
  std::cout << released.value_or(holdfast::ReleasedAll{}).released << " given back, "
            << counted.granted << " granted, " << counted.held << " held\n";
  return ran && number && counted.held == 0 ? 0 : 1;
}
