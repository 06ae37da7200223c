// SPDX-License-Identifier: Apache-2.0
//
// One of the stores that vote, and whether its word counts. A server that lost its memory may grant
// what it had granted to another: its grants are not counted until everything that it may have
// forgotten has ended, which takes `grace`, since no lease of such a member is longer.
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

// What rests on the word of a member.
enum class Stake : std::uint8_t {
  nothing,
  grant,    // something that another may have, if the member forgot it
  renewal,  // a lease that the member has: it excludes others now, whatever else was forgotten
};

class Member {
 public:
  Member(std::shared_ptr<store::Store> store, std::string address, bool forgets_nothing = false)
      : store(std::move(store)), address(std::move(address)), forgets_nothing(forgets_nothing) {}

  const std::shared_ptr<store::Store> store;
  const std::string address;  // for messages
  const bool forgets_nothing;

  // From the store. True if it is known by now who it is.
  bool look_again(LocalTime now);
  // The store said that there may be another server behind the address.
  void may_have_changed(LocalTime now);
  // It answered, as the server that is known.
  void heard(LocalTime now);
  bool is_known() const;
  store::Standing standing() const;
  // Known to lose its locks when it is restarted.
  bool is_forgetful() const;

  // Why a lease of `ttl` may not rest on it; nothing if it may. A grace of 0: nothing is forgotten.
  std::optional<std::string> why_not_counted(LocalTime now, Stake stake, Micros ttl,
                                             Micros grace) const;

  // It is another address of a member that counts already.
  void is_twin_of(const std::string& other);

 private:
  mutable std::mutex mutex_;
  store::Standing standing_;             // guarded by mutex_
  std::optional<LocalTime> heard_at_;    // guarded by mutex_
  std::optional<LocalTime> changed_at_;  // other locks are there since; guarded by mutex_
  std::string twin_;                     // guarded by mutex_
};

using Members = std::vector<std::unique_ptr<Member>>;

// Two addresses of one server, or of the same locks: "a:6379 and b:6379 are the same server".
std::optional<std::string> find_twins(const Members& members, bool allow_same_server);

}  // namespace holdfast::backends::quorum
