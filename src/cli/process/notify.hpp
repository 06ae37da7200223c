// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace holdfast::cli {

// Tells systemd, or whoever set NOTIFY_SOCKET, how we are: "READY=1". Does nothing without one.
void notify_service_manager(std::string_view state) noexcept;

}  // namespace holdfast::cli
