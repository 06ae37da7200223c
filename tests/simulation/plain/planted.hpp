// SPDX-License-Identifier: Apache-2.0
//
// The production library has no bugs to choose from. This stands where the generated planted.hpp
// stands in the planted build.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace holdfast::planted {

enum class Bug {
  fence_counter_lost_on_restart,
  fence_not_raised_after_snapshot,
  grant_published_before_it_is_made,
  last_fence_forgotten,
  raise_refused_ignored,
  resync_cleared_by_reentry,
  resync_flag_of_old_connection,
  subscription_not_rebound_after_failover,
  subscription_on_another_server,
};

struct Description {
  std::string_view name;
  std::string_view title;
};
constexpr std::span<const Description> bugs() { return {}; }

constexpr bool is(Bug) { return false; }
constexpr void choose(std::optional<Bug>) {}
constexpr std::optional<Bug> find(std::string_view) { return std::nullopt; }

}  // namespace holdfast::planted
