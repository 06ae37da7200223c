// SPDX-License-Identifier: Apache-2.0
//
// Nine mails, no more than three in any 200 milliseconds, whichever process or thread sends them.
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <iostream>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  const auto client = holdfast::open(argc > 1 ? argv[1] : "memory:");
  if (!client) {
    std::cerr << client.error().message << '\n';
    return 1;
  }
  const auto mails = client->rate_limit("mails", {.limit = 3, .window = 200ms});
  for (int number = 1; number <= 9; ++number) {
    // Waits for its turn. An error would say why it never came: no mail without it.
    const auto turn = mails.take(30s);
    if (!turn) {
      std::cerr << turn.error().message << '\n';
      return 1;
    }
    std::cout << "mail " << number << ", " << turn->remaining << " more at once\n";
  }
  // Or ask, and do something else if it is denied.
  const auto asked = mails.check(3);
  if (asked && !asked->allowed) {
    std::cout << "three more in "
              << std::chrono::ceil<std::chrono::milliseconds>(asked->retry_after).count()
              << " ms\n";
  }
  return asked ? 0 : 1;
}
