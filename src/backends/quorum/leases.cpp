// SPDX-License-Identifier: Apache-2.0
#include "backends/quorum/leases.hpp"

#include <algorithm>

namespace holdfast::backends::quorum {

void Leases::put(const LockName& name, const OwnerId& owner, KnownLease lease, LocalTime now) {
  const std::lock_guard lock(mutex_);
  if (leases_.size() >= sweep_at_) {
    std::erase_if(leases_, [now](const auto& entry) { return entry.second.valid_until < now; });
    sweep_at_ = std::max<std::size_t>(64, 2 * leases_.size());
  }
  if (lease.spec.kind == Kind::reentrant) {
    const auto [first, last] = range(leases_, name, owner, model::RequestId::any);
    for (auto entry = first; entry != last; ++entry) entry->second.fence = lease.fence;
  }
  auto where = key(name, owner, lease.request);
  leases_.insert_or_assign(std::move(where), std::move(lease));
}

std::optional<KnownLease> Leases::find(const LockName& name, const OwnerId& owner,
                                       model::RequestId request) const {
  const std::lock_guard lock(mutex_);
  const auto [first, last] = range(leases_, name, owner, request);
  if (first == last || std::next(first) != last) return std::nullopt;
  return first->second;
}

bool Leases::knows(const LockName& name, const OwnerId& owner) const {
  const std::lock_guard lock(mutex_);
  const auto [first, last] = range(leases_, name, owner, model::RequestId::any);
  return first != last;
}

Fence Leases::largest_fence(const LockName& name, const OwnerId& owner) const {
  const std::lock_guard lock(mutex_);
  Fence largest = 0;
  const auto [first, last] = range(leases_, name, owner, model::RequestId::any);
  for (auto entry = first; entry != last; ++entry) {
    largest = std::max(largest, entry->second.fence);
  }
  return largest;
}

void Leases::extend(const LockName& name, const OwnerId& owner, model::RequestId request,
                    LocalTime valid_until) {
  const std::lock_guard lock(mutex_);
  const auto [first, last] = range(leases_, name, owner, request);
  for (auto entry = first; entry != last; ++entry) {
    entry->second.valid_until = std::max(entry->second.valid_until, valid_until);
  }
}

void Leases::is_also_at(const LockName& name, const OwnerId& owner, model::RequestId request,
                        std::size_t member) {
  const std::lock_guard lock(mutex_);
  const auto found = leases_.find(key(name, owner, request));
  if (found != leases_.end()) found->second.may_be_at.set(member);
}

std::uint64_t Leases::begin_conversion(const LockName& name, const OwnerId& owner,
                                       model::RequestId request) {
  const std::lock_guard lock(mutex_);
  const auto found = leases_.find(key(name, owner, request));
  return found == leases_.end() ? 0 : ++found->second.conversions;
}

void Leases::converted(const LockName& name, const OwnerId& owner, model::RequestId request,
                       const Converted& to) {
  const std::lock_guard lock(mutex_);
  const auto found = leases_.find(key(name, owner, request));
  if (found == leases_.end()) return;
  KnownLease& lease = found->second;
  ++lease.conversions;
  lease.permits = to.permits;
  lease.fence = to.fence;
  lease.counts_at = to.counts_at;
  lease.valid_until = std::max(lease.valid_until, to.valid_until);
}

void Leases::counts_also_at(const LockName& name, const OwnerId& owner, const KnownLease& lease,
                            std::size_t member) {
  const std::lock_guard lock(mutex_);
  const auto found = leases_.find(key(name, owner, lease.request));
  if (found == leases_.end() || found->second.conversions != lease.conversions) return;
  found->second.counts_at.set(member);
}

std::optional<KnownLease> Leases::erase(const LockName& name, const OwnerId& owner,
                                        model::RequestId request, Fence up_to) {
  const std::lock_guard lock(mutex_);
  const bool any = request == model::RequestId::any;
  const auto [first, last] = range(leases_, name, owner, request);
  std::optional<KnownLease> found;
  std::size_t count = 0;
  for (auto entry = first; entry != last;) {
    if (any && entry->second.fence > up_to) {
      ++entry;
      continue;
    }
    ++count;
    found = std::move(entry->second);
    entry = leases_.erase(entry);
  }
  return count == 1 ? found : std::nullopt;
}

}  // namespace holdfast::backends::quorum
