// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace holdfast::backends::file {

// What is wrong with a database file, found by reading alone; nothing if LMDB may open it. LMDB
// believes what the first two pages say, and a page that is not there then kills the process.
std::optional<std::string> problem_of_database(int fd, std::size_t file_bytes);

}  // namespace holdfast::backends::file
