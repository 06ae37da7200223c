// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simulation/run.hpp"

namespace holdfast::simulation {

// Many seeds in several processes. Says now and then on standard error how far it is.
Summary run_seeds_in_parallel(std::uint64_t first, std::uint64_t count, unsigned jobs,
                              RunSeed run = run_seed);

}  // namespace holdfast::simulation
