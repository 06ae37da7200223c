// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include "net/resp/endpoint.hpp"
#include "net/resp/reply.hpp"

#include <span>
#include <string>

namespace holdfast::net::resp {

// What is said first on every connection, and how many replies belong to it.
struct Opening {
  std::string bytes;
  std::size_t replies = 0;
  bool an_error_ends_it = false;  // one error may stand for several replies
  std::size_t may_fail = 0;       // but not among so many of the first
};

Opening login(const Endpoint& endpoint);
// Whether these replies let us in. The error is the server's sentence.
Result<void> judge_login(const Endpoint& endpoint, std::span<const Reply> replies);

// A server that is still reading its data from the disk: soon it will be there.
bool is_loading(const Error& error);

}  // namespace holdfast::net::resp
