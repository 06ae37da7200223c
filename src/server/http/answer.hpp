// SPDX-License-Identifier: Apache-2.0
//
// From what an endpoint has to say to an HTTP answer.
#pragma once

#include <holdfast/task.hpp>
#include <holdfast/view.hpp>

#include "net/http/message.hpp"
#include "server/problem.hpp"

#include <boost/json/object.hpp>

namespace holdfast::server {

using net::http::Response;

Response answer(int status, const boost::json::object& body);
// application/problem+json; `more` is merged into it.
Response answer(const Problem& problem, boost::json::object more = {});
Response answer(const Error& error, boost::json::object more = {});

// "Retry-After" counts in whole seconds, and zero would mean at once.
void set_retry_after(Response& response, Micros delay);

// A task that is done, for endpoints that did not have to wait.
inline Task<Response> done(Response response) { return Task<Response>(std::move(response)); }

}  // namespace holdfast::server
