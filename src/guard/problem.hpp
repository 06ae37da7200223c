// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "guard/admission.hpp"

#include <boost/json/object.hpp>

namespace holdfast::guard {

// application/problem+json (RFC 9457) with the words of docs/errors.md and docs/fence-guards.md.
net::http::Response problem(const Refusal& refusal, boost::json::object more = {});

}  // namespace holdfast::guard
