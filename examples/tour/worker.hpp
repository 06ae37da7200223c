// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report.hpp"

namespace tour {

// A process of its own, with a client of its own. Reports to standard output.
int run_worker(const std::string& store, const Job& job);

}  // namespace tour
