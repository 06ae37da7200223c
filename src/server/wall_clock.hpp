// SPDX-License-Identifier: Apache-2.0
//
// The time of day, for people to read: nothing is decided by it.
#pragma once

#include "text/wall_time.hpp"

#include <chrono>

namespace holdfast::server {

inline text::WallTime wall_now() {
  return std::chrono::floor<Micros>(std::chrono::system_clock::now());
}

}  // namespace holdfast::server
