// SPDX-License-Identifier: Apache-2.0
//
// The answers in the guide's shape. Errors have its `error` and `message`, and the fields of a
// problem (RFC 9457) beside them, so that either kind of client finds what it looks for.
#pragma once

#include "server/http/answer.hpp"

#include <string_view>

namespace holdfast::server::patterns {

// What the guide's clients compare with.
inline constexpr std::string_view failed_operation = "Operation failed during execution";
inline constexpr std::string_view failed_lock = "Failed to acquire or manage lock";

boost::json::object success_json(std::string_view resource, Micros took, Fence fence);

// 409 with Retry-After. `detail` is for a person.
Response locked(std::string_view resource, Micros retry_after, std::string detail);
// 503: too few members of a quorum answered in time.
Response quorum_not_reached(std::string detail);
// 500 with one of the guide's texts.
Response failed(std::string_view error, const Error& why);
// 503: the server ended the operation because it ends itself.
Response shutting_down();
// 502 and 504.
Response upstream_failed(int status, std::string detail);
// Everything else, by the error's own status: 400, 409, 422, 429; what a store could not do is 500.
Response refused(const Error& why);
Response refused(const Problem& problem);

}  // namespace holdfast::server::patterns
