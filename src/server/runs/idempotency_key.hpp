// SPDX-License-Identifier: Apache-2.0
//
// The header Idempotency-Key, where a whole operation is to happen once.
#pragma once

#include "recipes/idempotency.hpp"
#include "server/http/call.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::server {

// What the header asks for.
struct OnceOrder {
  LockName name;  // of the record
  // For the upstream: the same for a repeated request, another for another token or resource.
  std::string key;
  recipes::RunTerms terms;
  Micros wait{};  // for one that is under way
};

// Nothing without the header. A key belongs to the caller's token and to `scope`: the same key of
// another token, or for another resource, is another key. The fingerprint is that of the request.
// Errors: bad_input, naming the header.
Result<std::optional<OnceOrder>> parse_once(const Call& call, std::string_view scope);

}  // namespace holdfast::server
