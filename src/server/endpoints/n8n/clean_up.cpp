// SPDX-License-Identifier: Apache-2.0
//
// POST /n8n/error_handler_lock_cleanup, with the item of n8n's error trigger as it is, or with an
// execution_id.
#include "server/endpoints/n8n/answers.hpp"
#include "server/http/call.hpp"
#include "server/options.hpp"
#include "server/services.hpp"

#include <array>

namespace holdfast::server {
namespace {

namespace json = boost::json;
using n8n::recipe::CleanUpRequest;

// n8n's own ids are texts; older versions sent numbers.
Result<std::string> id_from(std::string_view name, const json::value& value) {
  if (value.is_string()) return std::string(value.get_string());
  if (value.is_int64() && value.get_int64() > 0) return std::to_string(value.get_int64());
  return fail(Errc::bad_input, std::string(name) + ": must be a text");
}

// By precedence: execution.id, executionId, execution_id. The rest of an error trigger's item says
// what happened, and is not ours to judge.
Result<std::string> failed_execution(const json::object& body) {
  const auto* execution = body.if_contains("execution");
  if (execution != nullptr && !execution->is_null()) {
    const auto* object = execution->if_object();
    if (object == nullptr) return fail(Errc::bad_input, "execution: must be an object");
    if (const auto* id = object->if_contains("id"); id != nullptr && !id->is_null()) {
      return id_from("execution.id", *id);
    }
  }
  for (const auto* name : {"executionId", "execution_id"}) {
    const auto* id = body.if_contains(name);
    if (id != nullptr && !id->is_null()) return id_from(name, *id);
  }
  return fail(Errc::bad_input, "execution_id: must be given, or execution.id");
}

Result<void> add_scopes(const json::object& body, std::vector<std::string>& out) {
  const auto* scopes = body.if_contains("lockScopes");
  if (scopes == nullptr || scopes->is_null()) return {};
  const auto* list = scopes->if_array();
  if (list == nullptr) return fail(Errc::bad_input, "lockScopes: must be an array of texts");
  for (const auto& scope : *list) {
    if (!scope.is_string()) return fail(Errc::bad_input, "lockScopes: must be an array of texts");
    out.emplace_back(scope.get_string());
  }
  return {};
}

Result<CleanUpRequest> parse_clean_up(const Call& call) {
  const auto body = call.body();
  if (!body) return std::unexpected(body.error());
  auto execution = failed_execution(*body);
  if (!execution) return std::unexpected(std::move(execution.error()));
  CleanUpRequest request{std::move(*execution), call.services.options().n8n.lock_scopes};
  if (auto good = add_scopes(*body, request.lock_scopes); !good) {
    return std::unexpected(std::move(good.error()));
  }
  return request;
}

void write_down(Services& services, const Who& who, std::string_view scope,
                std::string_view execution) {
  const auto key = n8n::recipe::lock_key(scope);
  const auto reason = "cleaned up after execution " + std::string(execution);
  n8n::write_down(services, who, {.type = EventType::forced, .name = key, .reason = reason});
}

Task<Response> clean_later(Services& services, Who who, CleanUpRequest request) {
  const auto execution = request.execution_id;
  auto cleaning = n8n::recipe::clean_up(
      services.n8n_core, std::move(request), [principal = who.principal](std::string_view scope) {
        return principal->may(Verb::lock, n8n::recipe::lock_key(scope));
      });
  const Result<n8n::recipe::CleanUp> cleaned = co_await std::move(cleaning);
  if (!cleaned) co_return n8n::refused(cleaned.error());
  for (const auto& scope : n8n::recipe::scopes_of(*cleaned)) {
    write_down(services, who, scope, execution);
  }
  co_return answer(200, n8n::recipe::to_json(*cleaned));
}

Task<Response> clean_up(const Call& call) {
  auto request = parse_clean_up(call);
  if (!request) return done(n8n::refused(request.error()));
  return clean_later(call.services, call.who(), std::move(*request));
}

constexpr std::array n8n_clean_up_table{
    Route{Method::post, "/n8n/error_handler_lock_cleanup", Access::lock, clean_up},
};

}  // namespace

extern const std::span<const Route> n8n_clean_up_routes;
const std::span<const Route> n8n_clean_up_routes = n8n_clean_up_table;

}  // namespace holdfast::server
