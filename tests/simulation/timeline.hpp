// SPDX-License-Identifier: Apache-2.0
//
// A history for people: one line per event, who believed what, and what went wrong.
#pragma once

#include "history/check.hpp"

#include <string>

namespace holdfast::simulation {

std::string timeline(const history::History& history,
                     const std::vector<history::Violation>& violations);

}  // namespace holdfast::simulation
