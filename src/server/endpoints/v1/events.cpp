// SPDX-License-Identifier: Apache-2.0
//
// GET /v1/events: server-sent events. A browser that lost its connection comes back with
// Last-Event-ID and misses nothing that is still kept.
#include "server/events/hub.hpp"
#include "server/events/streams.hpp"
#include "server/http/answer.hpp"
#include "server/http/call.hpp"
#include "server/options.hpp"
#include "server/services.hpp"

#include <array>
#include <charconv>

namespace holdfast::server {
namespace {

struct Subscriber {
  EventFilter filter;
  std::optional<std::uint64_t> after;
};

Result<Subscriber> parse_subscriber(const Call& call) {
  auto query = call.query();
  if (!query) return std::unexpected(std::move(query.error()));
  Subscriber subscriber;
  std::string after(call.request.header("Last-Event-ID"));
  for (auto& [name, value] : *query) {
    if (name == "prefix") {
      subscriber.filter.prefix = std::move(value);
    } else if (name == "after") {
      after = std::move(value);
    } else {
      return fail(Errc::bad_input, "query: only prefix and after are known");
    }
  }
  if (!after.empty()) {
    std::uint64_t id = 0;
    const auto* end = after.data() + after.size();
    const auto [at, failed] = std::from_chars(after.data(), end, id);
    if (failed != std::errc{} || at != end) {
      return fail(Errc::bad_input, "after: must be the id of an event");
    }
    subscriber.after = id;
  }
  subscriber.filter.allowed = [principal = call.principal](std::string_view name) {
    return principal->may(Verb::read, name);
  };
  return subscriber;
}

Task<Response> events(const Call& call) {
  auto& services = call.services;
  auto subscriber = parse_subscriber(call);
  if (!subscriber) return done(answer(subscriber.error()));
  if (services.events.subscribers() >= services.options().limits.max_event_streams) {
    return done(answer(Error{Errc::limit_reached, "max_event_streams: too many are subscribed"}));
  }
  Response response{.status = 200, .content_type = "text/event-stream"};
  response.stream = [&services, subscriber = std::move(*subscriber)](auto stream) mutable {
    auto subscription = services.events.subscribe(std::move(subscriber.filter), subscriber.after);
    services.event_streams.add(std::move(subscription), std::move(stream));
  };
  return done(std::move(response));
}

constexpr std::array event_table{Route{Method::get, "/v1/events", Access::read, events}};

}  // namespace

extern const std::span<const Route> event_routes;
const std::span<const Route> event_routes = event_table;

}  // namespace holdfast::server
