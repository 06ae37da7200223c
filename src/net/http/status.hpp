// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace holdfast::net::http {

// "Conflict" for 409; "Unknown" for a status that HTTP does not have.
std::string_view reason_phrase(int status) noexcept;

}  // namespace holdfast::net::http
