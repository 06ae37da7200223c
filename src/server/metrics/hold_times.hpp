// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/names.hpp>

#include "runtime/clock.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace holdfast::server {

// When which owner got which lock, for the histogram of hold times, and with which fence, for the
// audit trail: a table of fixed size in which
// a newcomer overwrites whoever has the same slot. It loses some, and costs the same for a million
// locks as for one. Wait-free.
class HoldTimes {
 public:
  using Time = std::chrono::microseconds;

  struct Held {
    Time time{};
    Fence fence = 0;
  };

  void taken(std::string_view name, std::string_view owner, Fence fence,
             runtime::LocalTime now) noexcept {
    const auto key = key_of(name, owner);
    auto& slot = slots_[key % slots_.size()];
    slot.key.store(0, std::memory_order_relaxed);
    slot.at.store(now.time_since_epoch().count(), std::memory_order_relaxed);
    slot.fence.store(fence, std::memory_order_relaxed);
    slot.key.store(key, std::memory_order_release);
  }
  // Nothing if it is not known (any more).
  std::optional<Held> released(std::string_view name, std::string_view owner,
                               runtime::LocalTime now) noexcept {
    const auto key = key_of(name, owner);
    auto& slot = slots_[key % slots_.size()];
    if (slot.key.load(std::memory_order_acquire) != key) return std::nullopt;
    const auto since = now.time_since_epoch().count() - slot.at.load(std::memory_order_relaxed);
    const auto fence = slot.fence.load(std::memory_order_relaxed);
    slot.key.store(0, std::memory_order_relaxed);
    return Held{std::chrono::floor<Time>(runtime::LocalClock::duration(since)), fence};
  }

 private:
  struct Slot {
    std::atomic<std::uint64_t> key{0};
    std::atomic<runtime::LocalClock::rep> at{0};
    std::atomic<Fence> fence{0};
  };

  static std::uint64_t key_of(std::string_view name, std::string_view owner) noexcept {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
    const std::hash<std::string_view> hash;
    return (hash(name) * odd ^ hash(owner)) | 1U;
  }

  std::array<Slot, 8192> slots_{};
};

}  // namespace holdfast::server
