// SPDX-License-Identifier: Apache-2.0
//
// The resource's side of fencing. A lock says who may write; only what is written to can refuse
// whoever believes so and is late. docs/fence-guards.md says which of these to take.
#pragma once

#include <holdfast/client.hpp>
#include <holdfast/error.hpp>
#include <holdfast/names.hpp>
#include <holdfast/options.hpp>
#include <holdfast/task.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast {

// The largest fence a guard takes: what fits into a signed 64-bit column. Holdfast's own are far
// below.
inline constexpr Fence max_guarded_fence = INT64_MAX;
// How long a guard in a store remembers a resource after its last accepted check: 1m to 30d.
inline constexpr Duration default_fence_keep = std::chrono::days(7);

struct FenceCheck {
  bool accepted = false;
  Fence newest = 0;  // after the check: the fence itself if it was accepted

  explicit operator bool() const noexcept { return accepted; }
  friend bool operator==(const FenceCheck&, const FenceCheck&) = default;
};

// For one resource that lives in this process. From any thread; remembers as long as it lives.
class FenceGate {
 public:
  FenceGate() = default;
  explicit FenceGate(Fence newest) : newest_(newest) {}  // as it was when the process ended

  // Whether this fence is not older than any before. Two callers that were both admitted may still
  // write in the wrong order: whoever writes right away takes `write`.
  FenceCheck admit(Fence fence) {
    const std::lock_guard lock(mutex_);
    return judge(fence);
  }

  // Runs `work()` if the fence is admitted, and nothing newer is admitted until it has ended. The
  // work must not call this gate. What it throws comes through; its fence was seen nevertheless.
  template <typename Work>
  FenceCheck write(Fence fence, Work&& work) {
    const std::lock_guard lock(mutex_);
    const FenceCheck check = judge(fence);
    if (check) std::invoke(std::forward<Work>(work));
    return check;
  }

  Fence newest() const {
    const std::lock_guard lock(mutex_);
    return newest_;
  }

 private:
  // 0 is no fence: who has none is refused.
  FenceCheck judge(Fence fence) {
    const bool accepted = fence != 0 && fence >= newest_;
    if (accepted) newest_ = fence;
    return {accepted, newest_};
  }

  mutable std::mutex mutex_;
  Fence newest_ = 0;  // guarded by mutex_
};

// For a resource that cannot remember a fence: a store does it for all who open it. A light handle;
// making one talks to nobody, and a bad resource or keep is reported by the first check. May be
// copied, and used from any thread. Between a check and the write that follows, a newer holder may
// check and write: the gap is small, and it is there.
//
// `check` is one round trip. Being refused is an outcome, not an error. Errors: bad_input (naming
// the field and the rule), unavailable (surely nothing was remembered), outcome_unknown (it may
// have been, which does no harm: check again), not_replicated, spec_mismatch, unsupported.
class FenceGuard {
 public:
  FenceGuard(const Client& client, std::string_view resource, Duration keep = default_fence_keep)
      : core_(client.core()), resource_(resource), keep_(keep) {}

  Result<FenceCheck> check(Fence fence) const;
  // The same for coroutines; resumed on Holdfast's own thread, as Lockable::async_acquire.
  Task<Result<FenceCheck>> async_check(Fence fence, std::stop_token stop = {}) const;

  const std::string& resource() const noexcept { return resource_; }

 private:
  std::shared_ptr<client::Core> core_;
  std::string resource_;
  Duration keep_;
};

}  // namespace holdfast
