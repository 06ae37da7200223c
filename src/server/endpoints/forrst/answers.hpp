// SPDX-License-Identifier: Apache-2.0
//
// From the answers of Forrst to those of HTTP, and from what the server refuses by itself to
// answers of Forrst: its clients read no other errors.
#pragma once

#include <holdfast/forrst/service.hpp>

#include "net/http/message.hpp"
#include "server/problem.hpp"

#include <string_view>

namespace holdfast::server {

// Where Forrst is spoken: /forrst and /rpc.
bool is_forrst_path(std::string_view path);

net::http::Response to_response(forrst::Reply reply);

// With the status of the problem, and headers of its own to be added.
net::http::Response to_response(const forrst::Service& service, const Problem& problem);

// An answer of the server's own becomes one of Forrst; one of Forrst stays as it is.
net::http::Response in_forrst(const forrst::Service& service, net::http::Response response);

}  // namespace holdfast::server
