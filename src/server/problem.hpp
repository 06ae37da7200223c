// SPDX-License-Identifier: Apache-2.0
//
// How an error leaves the server: application/problem+json (RFC 9457) with the stable words of
// docs/errors.md.
#pragma once

#include <holdfast/error.hpp>

#include <boost/json/fwd.hpp>

#include <string>

namespace holdfast::server {

// A refusal that has no Errc: the wrong method, a missing token, a body that is too long.
struct Problem {
  int status = 500;
  std::string code;     // "busy", "unauthenticated", "body_too_long": stable, for programs
  std::string message;  // one sentence for a person
};

Problem problem_of(const Error& error);

// {"type", "title", "status", "code", "detail"}
boost::json::object to_json(const Problem& problem);

}  // namespace holdfast::server
