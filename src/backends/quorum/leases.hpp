// SPDX-License-Identifier: Apache-2.0
//
// What this store granted and has not seen end: enough to give a lease back to a member that lost
// it, and to know the fence on which a majority agreed.
#pragma once

#include "model/command.hpp"
#include "runtime/clock.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>

namespace holdfast::backends::quorum {

using runtime::LocalTime;

struct KnownLease {
  model::LockSpec spec;
  std::uint32_t permits = all_permits;
  model::MetadataPtr metadata;
  Fence fence = 0;
  Micros ttl{};
  LocalTime valid_until{};
};

class Leases {
 public:
  void put(const LockName& name, const OwnerId& owner, model::RequestId request, KnownLease lease,
           LocalTime now);
  std::optional<KnownLease> find(const LockName& name, const OwnerId& owner,
                                 model::RequestId request) const;
  // Only if it is still there.
  void extend(const LockName& name, const OwnerId& owner, model::RequestId request,
              LocalTime valid_until);
  void erase(const LockName& name, const OwnerId& owner, model::RequestId request);

 private:
  // The request first: it is random, so that one comparison is mostly enough.
  using Key = std::tuple<model::RequestId, std::string, std::string>;

  mutable std::mutex mutex_;
  std::map<Key, KnownLease> leases_;  // guarded by mutex_
  std::size_t sweep_at_ = 64;         // guarded by mutex_
};

}  // namespace holdfast::backends::quorum
