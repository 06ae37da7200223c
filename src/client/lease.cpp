// SPDX-License-Identifier: Apache-2.0
#include <holdfast/lease.hpp>

#include "client/held_lease.hpp"
#include "client/options_check.hpp"
#include "runtime/spawn.hpp"

namespace holdfast {

namespace {

template <typename T>
Result<T> wait_for(const client::HeldLease& held, Task<Result<T>> task) {
  if (auto good = held.core().may_block(); !good) return std::unexpected(std::move(good.error()));
  return runtime::run_blocking(std::move(task));
}

}  // namespace

Lease::Lease(std::shared_ptr<client::HeldLease> held) noexcept : held_(std::move(held)) {}
Lease::Lease(Lease&&) noexcept = default;

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this == &other) return *this;
  if (held_) held_->abandon();
  held_ = std::move(other.held_);
  return *this;
}

Lease::~Lease() {
  if (held_) held_->abandon();
}

const LockName& Lease::name() const noexcept { return held_->identity().name; }
const OwnerId& Lease::owner() const noexcept { return held_->identity().owner; }
Fence Lease::fence() const noexcept { return held_->fence(); }
Duration Lease::remaining() const noexcept { return held_->remaining(); }
bool Lease::valid() const noexcept { return held_->remaining() > Duration::zero(); }
std::stop_token Lease::lost() const noexcept { return held_->lost(); }

void Lease::on_lost(std::function<void(const Error&)> callback) {
  held_->on_lost(std::move(callback));
}

Result<Released> Lease::release() { return wait_for(*held_, held_->release()); }

Result<void> Lease::extend(Duration ttl) {
  if (auto good = client::check_ttl(ttl); !good) return good;
  return wait_for(*held_, held_->extend(ttl));
}

Result<void> Lease::upgrade(Duration wait, std::stop_token stop) {
  if (auto good = client::check_wait(wait); !good) return good;
  return wait_for(*held_, held_->convert(all_permits, wait, std::move(stop)));
}

Result<void> Lease::downgrade() {
  return wait_for(*held_, held_->convert(1, Duration::zero(), {}));
}

OwnerId Lease::detach() {
  // What was handed over is ours for a short claim. Whoever adopts it later counts on the ttl.
  if (const auto ttl = held_->unconfirmed_ttl()) (void)wait_for(*held_, held_->extend(*ttl));
  held_->detach();
  return held_->identity().owner;
}

}  // namespace holdfast
