// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simulation/http/http_servers.hpp"

namespace holdfast::simulation {

inline constexpr bool has_http_world = true;

inline std::unique_ptr<Environment> make_http_environment(const Time& now, const Plan& plan,
                                                          Dice& dice, Recorder& recorder) {
  return std::make_unique<HttpServers>(now, plan, dice, recorder);
}

}  // namespace holdfast::simulation
