// SPDX-License-Identifier: Apache-2.0
//
// One of the stores that vote, and whether its word counts. A server that lost its memory may grant
// what it had granted to another: it is not counted until everything it forgot has ended.
#pragma once

#include "backends/quorum/options.hpp"
#include "store/store.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::backends::quorum {

using runtime::LocalTime;

class Member {
 public:
  Member(std::shared_ptr<store::Store> store, std::string address)
      : store(std::move(store)), address(std::move(address)) {}

  const std::shared_ptr<store::Store> store;
  const std::string address;  // for messages

  // From the store, after it may have changed. True if it is known by now who it is.
  bool look_again();
  bool is_known() const;
  store::Standing standing() const;

  // Why a lease of `ttl` may not rest on it; nothing if it may.
  std::optional<std::string> why_not_counted(LocalTime now, Micros ttl, Micros grace) const;

  // It is another address of a member that counts already.
  void is_twin_of(const std::string& other);

 private:
  mutable std::mutex mutex_;
  store::Standing standing_;  // guarded by mutex_
  std::string twin_;          // guarded by mutex_
};

using Members = std::vector<std::unique_ptr<Member>>;

// Two addresses of one server, or of the same locks: "a:6379 and b:6379 are the same server".
std::optional<std::string> find_twins(const Members& members, bool allow_same_server);

}  // namespace holdfast::backends::quorum
