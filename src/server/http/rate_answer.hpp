// SPDX-License-Identifier: Apache-2.0
//
// What a client is told about a rate limit, in headers.
#pragma once

#include <holdfast/rates.hpp>

#include "net/http/message.hpp"
#include "server/problem.hpp"

#include <boost/json/object.hpp>

#include <string>

namespace holdfast::server {

// RateLimit-Limit, RateLimit-Remaining and RateLimit-Reset, the last in whole seconds, rounded up.
// An answer that has them keeps its own.
void set_rate_headers(net::http::Response& response, const RateOutcome& outcome);

// 429 with Retry-After and the headers above; `more` is merged into the body.
net::http::Response too_often(std::string message, const RateOutcome& outcome,
                              boost::json::object more = {});

}  // namespace holdfast::server
