// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include "net/http/client_message.hpp"

#include <boost/json/object.hpp>

#include <string>

namespace holdfast::backends::remote {

// Who is asked, for messages.
struct Asked {
  std::string peer;          // "http://host:3009"
  std::string token_source;  // where the token is that the server may not like
};

// The JSON object of a good answer, or what a refusal means to a store: see docs/stores/remote.md.
Result<boost::json::object> read_answer(const net::http::ClientResponse& response,
                                        const Asked& asked);
// The code word of a refusal; empty if it has none.
std::string refusal_code(const net::http::ClientResponse& response);
// What an answer other than 2xx means.
Error explain_refusal(const net::http::ClientResponse& response, const Asked& asked);

}  // namespace holdfast::backends::remote
