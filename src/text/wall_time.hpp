// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/view.hpp>

#include <chrono>
#include <string>

namespace holdfast::text {

using WallTime = std::chrono::sys_time<Micros>;

// RFC 3339 in UTC with milliseconds: "2026-11-15T21:30:00.250Z".
std::string format_time(WallTime time);

}  // namespace holdfast::text
