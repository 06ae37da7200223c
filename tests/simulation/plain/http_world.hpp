// SPDX-License-Identifier: Apache-2.0
//
// The world of `http:` needs the library with the simulator's lines in it: only the planted build
// has one.
#pragma once

#include "simulation/environment.hpp"

#include <cstdlib>

namespace holdfast::simulation {

inline constexpr bool has_http_world = false;

inline std::unique_ptr<Environment> make_http_environment(const Time&, const Plan&, Dice&,
                                                          Recorder&) {
  std::abort();
}

}  // namespace holdfast::simulation
