// SPDX-License-Identifier: Apache-2.0
//
// GET /openapi.json and GET /docs: what this server speaks, for programs and for people.
#include "server/http/answer.hpp"
#include "server/http/call.hpp"
#include "server/openapi/document.hpp"
#include "server/openapi/page.hpp"

#include <array>

namespace holdfast::server {
namespace {

Task<Response> openapi(const Call&) {
  return done({.status = 200, .body = std::string(openapi_json()), .cacheable = true});
}

Task<Response> docs(const Call&) {
  static const std::string page = page_of(openapi_document());
  return done(
      {.status = 200,
       .content_type = "text/html; charset=utf-8",
       .body = page,
       .headers = {{"Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'"}},
       .cacheable = true});
}

constexpr std::array docs_table{
    Route{Method::get, "/openapi.json", Access::read, openapi},
    Route{Method::get, "/docs", Access::read, docs},
};

}  // namespace

extern const std::span<const Route> docs_routes;
const std::span<const Route> docs_routes = docs_table;

}  // namespace holdfast::server
