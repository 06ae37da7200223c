// SPDX-License-Identifier: Apache-2.0
//
// The answers that several endpoints of the API share.
#pragma once

#include "server/http/answer.hpp"
#include "server/locks/take.hpp"
#include "server/wall_clock.hpp"
#include "text/json.hpp"

#include <string_view>

namespace holdfast::server {

// A lease, with `waited_ms` as the time between the request and the store's answer: a caller who
// waited counts its lease from its own clock before sending, plus that.
boost::json::object lease_json(std::string_view name, std::string_view owner, const Taken& taken);

// 409 with the holders and Retry-After, 408, 503 and so on.
Response refusal(const NotTaken& not_taken, Kind kind);

// What a caller sees whose token does not cover the name, and everybody of a lock that nobody
// holds: the two must not differ.
Error not_held_or_not_yours(std::string_view name);

}  // namespace holdfast::server
