// SPDX-License-Identifier: Apache-2.0
//
// GET /v1/me: whose token this is, and what it may do; for pages that offer no more than that.
#include "server/http/answer.hpp"
#include "server/http/call.hpp"
#include "server/services.hpp"

#include <boost/json/array.hpp>

#include <array>

namespace holdfast::server {
namespace {

namespace json = boost::json;

Task<Response> me(const Call& call) {
  const auto& principal = *call.principal;
  json::array verbs;
  for (const auto verb : {Verb::read, Verb::lock, Verb::admin}) {
    if (principal.may(verb)) verbs.emplace_back(to_string(verb));
  }
  const auto& expires = principal.expires;
  return done(answer(
      200, {{"name", principal.name},
            {"verbs", std::move(verbs)},
            {"prefixes", json::array(principal.prefixes.begin(), principal.prefixes.end())},
            {"expires_at", expires ? json::value(text::format_time(*expires)) : json::value()},
            {"needs_token", call.services.tokens() != nullptr}}));
}

constexpr std::array me_table{Route{Method::get, "/v1/me", Access::read, me}};

}  // namespace

extern const std::span<const Route> me_routes;
const std::span<const Route> me_routes = me_table;

}  // namespace holdfast::server
