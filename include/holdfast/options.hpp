// SPDX-License-Identifier: Apache-2.0
//
// Options are plain structs for designated initialisers: `{.ttl = 30s, .wait = 5s}`. The text
// fields are views: they need to live only until the call returns.
#pragma once

#include <holdfast/view.hpp>

#include <chrono>
#include <string_view>
#include <type_traits>

namespace holdfast {

using Duration = std::chrono::microseconds;

inline constexpr Duration min_ttl = std::chrono::milliseconds(20);
inline constexpr Duration max_ttl = std::chrono::hours(24);
inline constexpr Duration max_wait = std::chrono::hours(24);
inline constexpr Duration default_ttl = std::chrono::seconds(30);

struct AcquireOptions {
  // How long the lock stays ours if nobody renews it: min_ttl to max_ttl.
  Duration ttl = default_ttl;
  // How long to wait for it: 0 (fail fast) to max_wait.
  Duration wait{};
  // Renew in the background until the lease is released or lost.
  bool renew = true;
  // Between two renewals; 0 means ttl / 3.
  Duration renew_every{};
  // Renewal stops after this long, so that a hung program gives the lock back; 0 means never.
  Duration max_hold{};
  // Wait by asking again and again (50, 100, 200 ms …, with jitter) even where the store can
  // queue. Stores that cannot notify do this by themselves.
  bool retry = false;
  // How many permits of a semaphore to take at once; 1 for every other kind.
  std::uint32_t permits = 1;
  // Who holds it; empty means a fresh random owner. Re-entry needs the same owner.
  std::string_view owner{};
  // Shown to operators beside host, pid and program.
  std::string_view note{};
};

struct ListOptions {
  std::string_view prefix{};
  std::string_view cursor{};  // LockPage::next of the page before
  std::uint32_t limit = 100;  // 1 to max_page
};

inline constexpr std::uint32_t max_page = 1000;

static_assert(std::is_trivially_destructible_v<AcquireOptions>);
static_assert(std::is_trivially_destructible_v<ListOptions>);

}  // namespace holdfast
