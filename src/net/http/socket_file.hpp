// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace holdfast::net::http {

// Removes a socket file that a server left behind, which nobody answers on any more.
void remove_stale_socket(const std::string& path);

}  // namespace holdfast::net::http
