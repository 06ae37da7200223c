// SPDX-License-Identifier: Apache-2.0
//
// A function whose work another service does: the arguments as a POST, the result as its answer.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/forrst/function.hpp>

#include "runtime/runtime.hpp"

#include <memory>
#include <string_view>

namespace holdfast::server {

// The upstream is told Holdfast-Fence and Holdfast-Resource of the lock it runs under,
// X-Forrst-Request-Id, and under an idempotency key Idempotency-Key and Holdfast-Taken-Over.
//
// A 2xx has the result as JSON, or nothing for null. Any other answer may be a Forrst error and is
// passed on; else its status says what it is, and what we do not know is DEPENDENCY_ERROR. Where
// surely nothing was sent it is UNAVAILABLE; where no answer came DEADLINE_EXCEEDED or
// DEPENDENCY_ERROR. Errors: bad_input, for what is no URL.
Result<forrst::AsyncHandler> upstream_function(const std::shared_ptr<runtime::Runtime>& runtime,
                                               std::string_view url);

}  // namespace holdfast::server
