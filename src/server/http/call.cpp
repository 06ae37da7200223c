// SPDX-License-Identifier: Apache-2.0
#include "server/http/call.hpp"

#include "text/json_parse.hpp"

#include <boost/json/object.hpp>

namespace holdfast::server {

Result<boost::json::object> Call::body() const {
  if (request.body.empty()) return boost::json::object{};
  auto parsed = text::parse_json(request.body);
  if (!parsed) return std::unexpected(std::move(parsed.error()));
  if (!parsed->is_object()) return fail(Errc::bad_input, "the body must be a JSON object");
  return std::move(parsed->get_object());
}

Result<Query> Call::query() const { return parse_query(request.query); }

Who Call::who() const { return {principal, request.peer ? request.peer->address : std::string()}; }

}  // namespace holdfast::server
