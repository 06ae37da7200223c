// SPDX-License-Identifier: Apache-2.0
//
// Looking at locks, and taking one away: GET /v1/locks, GET and DELETE /v1/locks/{name}.
#include "client/explain.hpp"
#include "server/endpoints/v1/encode.hpp"
#include "server/events/hub.hpp"
#include "server/http/call.hpp"
#include "server/http/fields.hpp"
#include "server/journal.hpp"
#include "server/locks/ask.hpp"
#include "server/locks/visible.hpp"
#include "server/services.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace holdfast::server {
namespace {

Task<Response> look(Services& services, LockName name) {
  auto asking = ask(services.core(), name, model::Inspect{});
  const Result<store::Reply> reply = co_await std::move(asking);
  if (!reply) co_return answer(reply.error());
  LockView view = std::get<model::Seen>(std::get<model::LockOutcome>(reply->outcome)).lock;
  if (view.holders.empty() && view.waiters.empty()) {
    co_return answer(not_held_or_not_yours(name.str()));
  }
  view.name = name.str();
  co_return answer(200, text::to_json(view, wall_now()));
}

Task<Response> get(const Call& call) {
  auto name = LockName::make(call.parameters[0]);
  if (!name) return done(answer(name.error()));
  if (!call.principal->may(Verb::read, name->str())) {
    return done(answer(not_held_or_not_yours(name->str())));
  }
  return look(call.services, std::move(*name));
}

Result<store::ListRequest> parse_lock_list(const Call& call) {
  auto query = call.query();
  if (!query) return std::unexpected(std::move(query.error()));
  store::ListRequest request;
  for (auto& [name, value] : *query) {
    if (name == "prefix") {
      request.prefix = std::move(value);
    } else if (name == "cursor") {
      request.cursor = std::move(value);
    } else if (name == "limit") {
      const auto* end = value.data() + value.size();
      const auto [at, failed] = std::from_chars(value.data(), end, request.limit);
      if (failed != std::errc{} || at != end) request.limit = 0;
    } else {
      return fail(Errc::bad_input, "query: only prefix, cursor and limit are known");
    }
  }
  return request;
}

Task<Response> locks_page(Services& services, PrincipalPtr principal, store::ListRequest request) {
  // Whoever follows the events after this one misses nothing that the page does not have.
  const auto last_event_id = services.events.last_id();
  auto listing = list_visible(services.shared_core(), std::move(principal), std::move(request));
  Result<LockPage> page = co_await std::move(listing);
  if (!page) co_return answer(page.error());
  auto body = text::to_json(*page, wall_now());
  body["last_event_id"] = last_event_id;
  co_return answer(200, body);
}

Task<Response> list_locks(const Call& call) {
  auto request = parse_lock_list(call);
  if (!request) return done(answer(request.error()));
  return locks_page(call.services, call.principal, std::move(*request));
}

// Looks first: whoever is granted the lock after that is not meant.
Task<Response> force_release(Services& services, Who who, LockName name, std::string reason) {
  auto looking = ask(services.core(), name, model::Inspect{});
  const Result<store::Reply> seen = co_await std::move(looking);
  if (!seen) co_return answer(seen.error());
  model::ForceRelease force{.up_to = 0};
  const auto& view = std::get<model::Seen>(std::get<model::LockOutcome>(seen->outcome)).lock;
  for (const auto& holder : view.holders) force.up_to = std::max(force.up_to, holder.fence);
  if (view.holders.empty()) co_return answer(not_held_or_not_yours(name.str()));
  auto forcing = ask(services.core(), name, force);
  const Result<store::Reply> reply = co_await std::move(forcing);
  if (!reply) co_return answer(reply.error());
  const auto& outcome = std::get<model::LockOutcome>(reply->outcome);
  const auto* forced = std::get_if<model::Forced>(&outcome);
  if (forced == nullptr) co_return answer(client::explain_refusal(name, outcome));
  services.journal.record(
      who,
      {.type = EventType::forced, .name = name.str(), .fence = forced->fence, .reason = reason});
  co_return answer(200, {{"name", name.str()}, {"ended", forced->count}, {"fence", forced->fence}});
}

Task<Response> force(const Call& call) {
  auto name = LockName::make(call.parameters[0]);
  if (!name) return done(answer(name.error()));
  const auto body = call.body();
  if (!body) return done(answer(body.error()));
  Fields fields(*body);
  std::string reason(fields.needed_text("reason", max_metadata_bytes));
  if (auto good = fields.done(); !good) return done(answer(good.error()));
  if (!call.principal->may(Verb::admin, name->str())) {
    return done(answer(not_held_or_not_yours(name->str())));
  }
  return force_release(call.services, call.who(), std::move(*name), std::move(reason));
}

constexpr std::array lock_table{
    Route{Method::get, "/v1/locks", Access::read, list_locks},
    Route{Method::get, "/v1/locks/{name}", Access::read, get},
    Route{Method::del, "/v1/locks/{name}", Access::admin, force},
};

}  // namespace

extern const std::span<const Route> lock_routes;
const std::span<const Route> lock_routes = lock_table;

}  // namespace holdfast::server
