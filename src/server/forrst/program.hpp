// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace holdfast::server {

// The file of a program: `word` itself if it is an absolute path, else the first in PATH that may
// be run.
std::optional<std::string> find_program(const std::string& word);

}  // namespace holdfast::server
