// SPDX-License-Identifier: Apache-2.0
//
// The production library has no bugs to choose from. This stands where the generated planted.hpp
// stands in the planted build.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace holdfast::planted {

enum class Bug { fence_counter_lost_on_restart, last_fence_forgotten };

struct Description {
  std::string_view name;
  std::string_view title;
};
constexpr std::span<const Description> bugs() { return {}; }

constexpr bool is(Bug) { return false; }
constexpr void choose(std::optional<Bug>) {}
constexpr std::optional<Bug> find(std::string_view) { return std::nullopt; }

}  // namespace holdfast::planted
