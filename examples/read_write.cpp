// SPDX-License-Identifier: Apache-2.0
//
// Many readers or one writer, with the standard's own guards; then a reader that becomes the writer
// without letting go in between.
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <iostream>
#include <mutex>
#include <shared_mutex>

using namespace std::chrono_literals;

namespace {

using holdfast::Client;
using holdfast::ReadWrite;
using holdfast::Result;

void with_standard_guards(const Client& client) {
  ReadWrite catalogue = client.read_write("catalogue");
  {
    const std::shared_lock one(catalogue);
    const std::shared_lock two(catalogue);
    std::cout << "two readers share it; a writer "
              << (catalogue.try_lock() ? "got in\n" : "has to wait\n");
  }
  const std::unique_lock writer(catalogue, 1s);
  std::cout << "one writer has it alone, fence " << catalogue.held()->fence() << '\n';
}

// Reads first and writes only if it must. Another reader may stay until the upgrade; no other
// writer can come in between, so what was read is still true.
Result<void> restock(const Client& client) {
  auto lease = client.read_write("catalogue").acquire_shared({.wait = 1s});
  if (!lease) return std::unexpected(lease.error());
  std::cout << "reading under fence " << lease->fence() << '\n';

  if (auto alone = lease->upgrade(1s); !alone) return alone;
  std::cout << "writing under fence " << lease->fence() << '\n';

  if (auto shared = lease->downgrade(); !shared) return shared;
  std::cout << "reading again; other readers may come\n";
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const auto client = holdfast::open(argc > 1 ? argv[1] : "memory:");
  if (!client) {
    std::cerr << client.error().message << '\n';
    return 1;
  }
  with_standard_guards(*client);
  if (auto done = restock(*client); !done) {
    std::cerr << done.error().message << '\n';
    return 1;
  }
}
