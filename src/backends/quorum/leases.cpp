// SPDX-License-Identifier: Apache-2.0
#include "backends/quorum/leases.hpp"

#include <algorithm>

namespace holdfast::backends::quorum {

void Leases::put(const LockName& name, const OwnerId& owner, model::RequestId request,
                 KnownLease lease, LocalTime now) {
  const std::lock_guard lock(mutex_);
  if (leases_.size() >= sweep_at_) {
    std::erase_if(leases_, [now](const auto& entry) { return entry.second.valid_until < now; });
    sweep_at_ = std::max<std::size_t>(64, 2 * leases_.size());
  }
  leases_.insert_or_assign(Key{request, owner.view(), name.str()}, std::move(lease));
}

std::optional<KnownLease> Leases::find(const LockName& name, const OwnerId& owner,
                                       model::RequestId request) const {
  const std::lock_guard lock(mutex_);
  const auto found = leases_.find(Key{request, owner.view(), name.str()});
  if (found == leases_.end()) return std::nullopt;
  return found->second;
}

void Leases::extend(const LockName& name, const OwnerId& owner, model::RequestId request,
                    LocalTime valid_until) {
  const std::lock_guard lock(mutex_);
  const auto found = leases_.find(Key{request, owner.view(), name.str()});
  if (found == leases_.end()) return;
  found->second.valid_until = std::max(found->second.valid_until, valid_until);
}

void Leases::erase(const LockName& name, const OwnerId& owner, model::RequestId request) {
  const std::lock_guard lock(mutex_);
  leases_.erase(Key{request, owner.view(), name.str()});
}

}  // namespace holdfast::backends::quorum
