// SPDX-License-Identifier: Apache-2.0
//
// From what a caller wants to the bytes of a request.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/forrst/client.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::forrst {

// Whether it can be said at all; the rest is for the server to judge. Errors: bad_input with the
// field and the rule.
Result<void> check_call(const CallOptions& options);

// A UUID of version 4.
std::string fresh_request_id();

// `deadline` is what is left of the options' one. The call must have passed check_call. Errors:
// bad_input: text that is no UTF-8, or too much of it.
Result<std::string> encode_call(const CallOptions& options, std::string_view id,
                                std::optional<Duration> deadline);

}  // namespace holdfast::forrst
