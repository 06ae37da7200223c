// SPDX-License-Identifier: Apache-2.0
//
// One entry of server.forrst.functions.
#pragma once

#include "forrst/registry.hpp"
#include "server/config_reader.hpp"
#include "server/options.hpp"

#include <optional>

namespace holdfast::server {

Result<void> read_function(const ConfigValue& value, ForrstFunction& out);

// Whether it can be called beside the others, to which it is added. Errors: bad_input, with its
// name, the key and the rule.
Result<void> check_function(const ForrstFunction& function, forrst::Registry& others);

// "10/s"
Result<void> read_rate(const ConfigValue& value, std::optional<RateRule>& out);

}  // namespace holdfast::server
