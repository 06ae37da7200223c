// SPDX-License-Identifier: Apache-2.0
//
// Looking at locks, and taking one away: GET /v1/locks, GET and DELETE /v1/locks/{name}.
#include "client/explain.hpp"
#include "server/endpoints/v1/encode.hpp"
#include "server/http/call.hpp"
#include "server/http/fields.hpp"
#include "server/locks/ask.hpp"
#include "server/services.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <vector>

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

Result<store::ListRequest> parse_list(const Call& call) {
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
      if (failed != std::errc{} || at != end || request.limit < 1 || request.limit > max_page) {
        return fail(Errc::bad_input, fmt::format("limit: must be an integer from 1 to {}", max_page));
      }
    } else {
      return fail(Errc::bad_input, "query: only prefix, cursor and limit are known");
    }
  }
  if (request.prefix.size() > max_name_bytes) {
    return fail(Errc::bad_input, fmt::format("prefix: must be at most {} bytes long", max_name_bytes));
  }
  return request;
}

// What the caller wants to see and may see, as prefixes of which none covers another. The store is
// asked for these alone: its cursor names the last lock of a page, and must not name one that the
// caller may not know of.
std::vector<std::string> visible(const Principal& principal, const std::string& wanted) {
  if (principal.prefixes.empty()) return {wanted};
  std::vector<std::string> prefixes;
  for (const auto& each : principal.prefixes) {
    if (each.starts_with(wanted)) prefixes.push_back(each);
    if (wanted.starts_with(each)) return {wanted};
  }
  std::ranges::sort(prefixes);
  std::vector<std::string> apart;
  for (auto& each : prefixes) {
    if (apart.empty() || !each.starts_with(apart.back())) apart.push_back(std::move(each));
  }
  return apart;
}

// "<index of the prefix>:<the store's cursor>".
struct Place {
  std::size_t index = 0;
  std::string cursor;
};

Result<Place> parse_place(std::string_view text) {
  Place place;
  if (text.empty()) return place;
  const auto* end = text.data() + text.size();
  const auto [at, failed] = std::from_chars(text.data(), end, place.index);
  if (failed != std::errc{} || at == end || *at != ':') {
    return fail(Errc::bad_input, "cursor: must be the `next` of an earlier page");
  }
  place.cursor.assign(at + 1, end);
  return place;
}

Task<Response> list_page(Services& services, std::vector<std::string> prefixes,
                         store::ListRequest request, Place place) {
  request.deadline = services.core().runtime().now() + client::command_timeout;
  LockPage page;
  while (place.index < prefixes.size() && page.locks.size() < request.limit) {
    store::ListRequest part = request;
    part.prefix = prefixes[place.index];
    part.cursor = std::move(place.cursor);
    part.limit = request.limit - static_cast<std::uint32_t>(page.locks.size());
    auto listing = services.core().store().list(std::move(part));
    Result<LockPage> more = co_await std::move(listing);
    if (!more) co_return answer(more.error());
    std::ranges::move(more->locks, std::back_inserter(page.locks));
    place = more->next.empty() ? Place{place.index + 1, {}} : Place{place.index, more->next};
    if (!place.cursor.empty()) break;
  }
  if (place.index < prefixes.size()) page.next = fmt::format("{}:{}", place.index, place.cursor);
  co_return answer(200, text::to_json(page, wall_now()));
}

Task<Response> list(const Call& call) {
  auto request = parse_list(call);
  if (!request) return done(answer(request.error()));
  auto place = parse_place(request->cursor);
  if (!place) return done(answer(place.error()));
  auto prefixes = visible(*call.principal, request->prefix);
  return list_page(call.services, std::move(prefixes), std::move(*request), std::move(*place));
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
  services.metrics().forced.add();
  services.journal.record(who, {.type = EventType::forced,
                                .name = name.str(),
                                .fence = forced->fence,
                                .reason = reason});
  co_return answer(200, {{"name", name.str()},
                         {"ended", forced->count},
                         {"fence", forced->fence}});
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

constexpr std::array routes{
    Route{Method::get, "/v1/locks", Access::read, list},
    Route{Method::get, "/v1/locks/{name}", Access::read, get},
    Route{Method::del, "/v1/locks/{name}", Access::admin, force},
};

}  // namespace

extern const std::span<const Route> lock_routes;
const std::span<const Route> lock_routes = routes;

}  // namespace holdfast::server
