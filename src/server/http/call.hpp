// SPDX-License-Identifier: Apache-2.0
//
// What an endpoint is given, and what an endpoint is: a function that decodes, calls and encodes.
#pragma once

#include <holdfast/task.hpp>

#include "net/http/message.hpp"
#include "server/auth/principal.hpp"
#include "server/http/target.hpp"
#include "server/who.hpp"

#include <boost/container/small_vector.hpp>
#include <boost/json/fwd.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::server {

class Services;

using net::http::Method;
using net::http::Response;
using PrincipalPtr = std::shared_ptr<const Principal>;

// The views hold until the endpoint suspends for the first time.
struct Call {
  Services& services;
  const net::http::Request& request;
  boost::container::small_vector<std::string, 2> parameters;  // of the path, decoded
  PrincipalPtr principal;

  // The JSON object of the body; an empty one if there is no body. Errors: bad_input.
  Result<boost::json::object> body() const;
  Result<Query> query() const;
  Who who() const;
};

using Endpoint = Task<Response> (*)(const Call&);

enum class Access : std::uint8_t {
  open,  // for everybody who can connect
  read,  // as the verbs of Principal
  lock,
  admin,
};

struct Route {
  Method method;
  std::string_view pattern;  // "/v1/locks/{name}/acquire"
  Access access;
  Endpoint endpoint;
  bool takes_its_time = false;  // as the caller wants it: no measure of the server
};

}  // namespace holdfast::server
