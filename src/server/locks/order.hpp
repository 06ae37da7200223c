// SPDX-License-Identifier: Apache-2.0
//
// What an acquire over HTTP asks for, from JSON.
#pragma once

#include "client/acquire.hpp"
#include "server/http/call.hpp"
#include "server/sessions/sessions.hpp"

#include <optional>
#include <string>

namespace holdfast::server {

struct AcquireOrder {
  client::Wanted wanted;
  std::optional<SessionId> session{};
};

// The fields of POST /v1/locks/{name}/acquire. Errors: bad_input naming the field, unsupported.
Result<AcquireOrder> parse_acquire(const Call& call, client::Core& core, std::string_view name,
                                   const boost::json::object& body);

// A caller's own id of a request, as the step wants it: repeating it is harmless. Without one, a
// fresh one. Header Idempotency-Key or field `request`; both must agree. Errors: bad_input.
struct RequestKey {
  std::string text;  // empty: none was given
};
Result<RequestKey> request_key(const Call& call, std::optional<std::string_view> field);
model::RequestId request_id(const Principal& principal, std::string_view name,
                            std::string_view key);
// Which lease of the owner a caller means who gives the key under which it was acquired, or none.
// Errors: unsupported, where a store cannot tell.
Result<model::RequestId> held_request(const Call& call, const LockName& name, const OwnerId& owner,
                                      std::string_view key);

inline constexpr std::size_t max_request_key_bytes = 256;
inline constexpr std::size_t max_session_bytes = 256;

}  // namespace holdfast::server
