// SPDX-License-Identifier: Apache-2.0
//
// One program takes a lock and ends; another one gives it back later. What goes from one to the
// other is the owner: whoever knows it can renew and release, so treat it like a password.
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

using namespace std::chrono_literals;

namespace {

using holdfast::Result;

// The first program: starts a deployment and ends. Nobody renews from here on, so the ttl must
// cover the time until the second program comes.
Result<std::string> begin(const std::string& store) {
  const auto client = holdfast::open(store);
  if (!client) return std::unexpected(client.error());
  auto lease = client->mutex("deploy:web").acquire({.ttl = 10min, .note = "release 7"});
  if (!lease) return std::unexpected(lease.error());
  std::cout << "begin: deploy:web is locked, fence " << lease->fence() << '\n';
  return lease->detach().str();
}

// Whoever comes in between finds the lock taken, though the program that took it is gone.
void meanwhile(const std::string& store) {
  const auto client = holdfast::open(store);
  if (!client) return;
  const auto lease = client->mutex("deploy:web").try_acquire();
  std::cout << "meanwhile: " << (lease ? "free" : lease.error().message) << '\n';
}

// The second program: knows the owner, takes the lease over and gives it back.
Result<void> finish(const std::string& store, const std::string& owner) {
  const auto client = holdfast::open(store);
  if (!client) return std::unexpected(client.error());
  auto lease = client->adopt("deploy:web", owner);
  if (!lease) return std::unexpected(lease.error());
  std::cout << "finish: adopted, the same fence " << lease->fence() << '\n';
  if (auto released = lease->release(); !released) return std::unexpected(released.error());
  std::cout << "finish: released\n";
  return {};
}

Result<void> both(const std::string& store) {
  const auto owner = begin(store);
  if (!owner) return std::unexpected(owner.error());
  meanwhile(store);
  return finish(store, *owner);
}

}  // namespace

int main() {
  // A store that outlives its programs, in a folder that is private to us.
  std::string folder = std::filesystem::temp_directory_path() / "holdfast-adopt-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return 1;
  const auto done = both("file:" + folder);
  std::filesystem::remove_all(folder);
  if (done) return 0;
  std::cerr << done.error().message << '\n';
  return 1;
}
