// SPDX-License-Identifier: Apache-2.0
//
// What every endpoint of the store protocol begins and ends with.
#pragma once

#include "backends/remote/protocol.hpp"
#include "server/http/answer.hpp"
#include "server/http/call.hpp"
#include "server/services.hpp"
#include "server/store_streams.hpp"

#include <fmt/format.h>

#include <optional>

namespace holdfast::server::store_api {

namespace remote = backends::remote;

// Every answer says which server gave it.
inline Response signed_by(Services& services, Response response) {
  response.headers.emplace_back(remote::server_header, services.store_streams.server_id());
  return response;
}

inline Response answer_json(Services& services, const boost::json::object& body) {
  return signed_by(services, answer(200, body));
}

inline Response signed_refusal(Services& services, const Error& error) {
  return signed_by(services, answer(error));
}

inline Response signed_refusal(Services& services, const Problem& problem) {
  return signed_by(services, answer(problem));
}

// The refusal of a caller that speaks another version.
inline std::optional<Response> other_protocol(const Call& call) {
  const auto spoken = call.request.header(remote::protocol_header);
  if (spoken == remote::protocol_version) return std::nullopt;
  return signed_refusal(
      call.services, Problem{400, "protocol",
                             fmt::format("{}: this server speaks version {} of the store protocol",
                                         remote::protocol_header, remote::protocol_version)});
}

}  // namespace holdfast::server::store_api
