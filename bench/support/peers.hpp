// SPDX-License-Identifier: Apache-2.0
//
// Servers that are started beside ours: their files, and when they listen.
#pragma once

#include "support/temp_folder.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace holdfast::bench {

// Returns its path.
std::string write_file(const TempFolder& folder, std::string_view name, std::string_view text);

// Until somebody listens there, and how long that took. Gives up after ten seconds.
std::chrono::milliseconds wait_for(const std::string& address);

}  // namespace holdfast::bench
