// SPDX-License-Identifier: Apache-2.0
//
// Why a lock alone is not enough, and what a fence does about it. The first holder is paused for
// longer than its lease lasts, wakes up and writes as if nothing had happened. The resource has
// seen a larger fence by then, and refuses.
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <iostream>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

using namespace std::chrono_literals;

namespace {

// Stands for whatever the lock protects: a table, a bucket, a device. Checking the fence and
// writing must be one atomic step, here under one mutex, in a database in one statement.
class Account {
 public:
  bool write(holdfast::Fence fence, std::string_view text) {
    const std::lock_guard lock(mutex_);
    if (fence < highest_fence_) return false;
    highest_fence_ = fence;
    text_ = text;
    return true;
  }
  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  holdfast::Fence highest_fence_ = 0;
  std::string text_;
};

bool write(Account& account, const holdfast::Lease& lease, std::string_view who) {
  const bool accepted = account.write(lease.fence(), who);
  std::cout << who << " writes with fence " << lease.fence() << ": "
            << (accepted ? "accepted" : "refused, too old") << '\n';
  return accepted;
}

}  // namespace

int main(int argc, char** argv) {
  const auto client = holdfast::open(argc > 1 ? argv[1] : "memory:");
  if (!client) {
    std::cerr << client.error().message << '\n';
    return 1;
  }
  Account account;

  // Without renewal the lease ends by itself, as it does for a process that is stopped.
  auto first = client->mutex("account").acquire({.ttl = 100ms, .renew = false});
  if (!first) return 1;
  write(account, *first, "the first holder");

  auto second = client->mutex("account").acquire({.wait = 2s});
  if (!second) return 1;
  write(account, *second, "the second holder");

  std::cout << "the first holder is " << (first->valid() ? "valid" : "no longer valid")
            << ", but nothing keeps its code from running on\n";
  const bool overwritten = write(account, *first, "the first holder");
  std::cout << "the account says: " << account.text() << '\n';
  return overwritten ? 1 : 0;
}
