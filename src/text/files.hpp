// SPDX-License-Identifier: Apache-2.0
//
// What everybody needs who writes a file beside the one it replaces.
#pragma once

#include <holdfast/error.hpp>

#include <sys/stat.h>

#include <expected>
#include <string>
#include <string_view>

namespace holdfast::text {

// "PATH: cannot be written: No space left on device"
std::unexpected<Error> refuse_file(Errc code, const std::string& path, std::string_view what,
                                   int error);

// Where the path leads, so that a link stays one: what it leads to is replaced.
std::string without_links(const std::string& path);

// Root may change the file of somebody who must still be able to read it. False, and errno, if that
// cannot be.
bool give_owner_and_mode(const struct stat& of, int fd);

}  // namespace holdfast::text
