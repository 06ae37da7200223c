// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>

namespace holdfast::cli {

inline constexpr std::size_t max_completions = 100;
inline constexpr std::chrono::seconds completion_patience{1};

}  // namespace holdfast::cli
