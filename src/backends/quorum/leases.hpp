// SPDX-License-Identifier: Apache-2.0
//
// What this store granted and has not seen end: enough to give a lease back to a member that lost
// it, and to know the fence on which a majority agreed.
#pragma once

#include "model/command.hpp"
#include "runtime/clock.hpp"

#include <bitset>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace holdfast::backends::quorum {

using runtime::LocalTime;

// One bit for each member.
using MemberSet = std::bitset<16>;

struct KnownLease {
  model::RequestId request{};
  model::LockSpec spec;
  std::uint32_t permits = all_permits;
  model::MetadataPtr metadata;
  Fence fence = 0;
  Micros ttl{};
  LocalTime valid_until{};
  MemberSet may_be_at;            // surely not at the others
  std::uint64_t conversions = 0;  // that were begun or ended
  // Where it is what it is taken for: an upgraded lease may be a shared one on the others.
  MemberSet counts_at = MemberSet().set();
};

class Leases {
 public:
  // Re-entries share their fence: those that the owner has here get that of the new one.
  void put(const LockName& name, const OwnerId& owner, KnownLease lease, LocalTime now);
  // RequestId::any finds the only lease that the owner has here.
  std::optional<KnownLease> find(const LockName& name, const OwnerId& owner,
                                 model::RequestId request) const;
  // Whether the owner has any lease here.
  bool knows(const LockName& name, const OwnerId& owner) const;
  // Of the leases that the owner has here; 0 if it has none.
  Fence largest_fence(const LockName& name, const OwnerId& owner) const;
  // Only if it is still there.
  void extend(const LockName& name, const OwnerId& owner, model::RequestId request,
              LocalTime valid_until);
  void is_also_at(const LockName& name, const OwnerId& owner, model::RequestId request,
                  std::size_t member);
  // Its number; 0 for a lease that is not known.
  std::uint64_t begin_conversion(const LockName& name, const OwnerId& owner,
                                 model::RequestId request);
  struct Converted {
    std::uint32_t permits = all_permits;
    Fence fence = 0;
    LocalTime valid_until{};
    MemberSet counts_at = MemberSet().set();
  };
  void converted(const LockName& name, const OwnerId& owner, model::RequestId request,
                 const Converted& to);
  // Unless it was converted since it was found as `lease`.
  void counts_also_at(const LockName& name, const OwnerId& owner, const KnownLease& lease,
                      std::size_t member);
  // RequestId::any: all of the owner whose fence is at most `up_to`. The lease, if it was only one.
  std::optional<KnownLease> erase(const LockName& name, const OwnerId& owner,
                                  model::RequestId request, Fence up_to = UINT64_MAX);

 private:
  using Key = std::tuple<std::string, std::string, model::RequestId>;
  using Map = std::map<Key, KnownLease>;
  static Key key(const LockName& name, const OwnerId& owner, model::RequestId request) {
    return {name.str(), std::string(owner.view()), request};
  }
  // Those of the owner, or the one that is meant. With mutex_ held.
  template <typename Leases>
  static auto range(Leases& leases, const LockName& name, const OwnerId& owner,
                    model::RequestId request) {
    constexpr auto last = model::RequestId{UINT64_MAX};
    const bool any = request == model::RequestId::any;
    return std::pair(leases.lower_bound(key(name, owner, request)),
                     leases.upper_bound(key(name, owner, any ? last : request)));
  }

  mutable std::mutex mutex_;
  Map leases_;                 // guarded by mutex_
  std::size_t sweep_at_ = 64;  // guarded by mutex_
};

}  // namespace holdfast::backends::quorum
