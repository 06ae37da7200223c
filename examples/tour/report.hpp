// SPDX-License-Identifier: Apache-2.0
//
// What a worker tells the tour: one line per event on a pipe.
#pragma once

#include <holdfast/names.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace tour {

inline constexpr std::string_view lock_name = "orders:42";

enum class Event : char { holds = 'h', writes = 'w', released = 'r', lost = 'l', failed = 'f' };

struct Report {
  std::string who;
  Event event = Event::failed;
  holdfast::Fence fence = 0;
};

// What one worker shall do: take the lock so many times, and hold it for so long each time.
struct Job {
  std::string name;
  int rounds = 1;
  std::chrono::milliseconds hold{};
  std::chrono::milliseconds ttl{};
};

}  // namespace tour
