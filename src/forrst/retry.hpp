// SPDX-License-Identifier: Apache-2.0
//
// The retry extension: what a caller should do about an error.
#pragma once

#include <holdfast/forrst/fault.hpp>
#include <holdfast/options.hpp>

#include <boost/json/object.hpp>

#include <string_view>

namespace holdfast::forrst {

// {"allowed", "strategy", "after", "max_attempts"}. `after`, where it is known, replaces what the
// code says.
boost::json::object retry_advice(std::string_view code, Duration after = {});

}  // namespace holdfast::forrst
