// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/file/environment.hpp"

namespace holdfast::backends::file {

// The environment of this process for the folder, opened if there is none or if its files were
// deleted. Clients of one folder share it, whatever path they reach it by. Errors: bad_input,
// unsupported, limit_reached, unavailable.
Result<std::shared_ptr<Environment>> shared_environment(EnvironmentOptions options,
                                                        const runtime::Runtime& runtime);

}  // namespace holdfast::backends::file
