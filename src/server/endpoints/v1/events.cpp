// SPDX-License-Identifier: Apache-2.0
//
// GET /v1/events: server-sent events. A browser that lost its connection comes back with
// Last-Event-ID and misses nothing that is still kept.
#include "server/http/answer.hpp"
#include "server/http/call.hpp"
#include "server/services.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace holdfast::server {
namespace {

using net::http::BodyStream;

constexpr auto heartbeat_interval = std::chrono::seconds(15);

struct Subscriber {
  EventFilter filter;
  std::optional<std::uint64_t> after;
};

std::shared_ptr<const std::string> frame(const PublishedEvent& event) {
  return std::make_shared<const std::string>(
      fmt::format("id: {}\nevent: {}\ndata: {}\n\n", event.id(), text::to_word(event.event().type),
                  event.json()));
}

std::shared_ptr<const std::string> comment(std::string_view text) {
  return std::make_shared<const std::string>(fmt::format(": {}\n\n", text));
}

// A line now and then, so that proxies and clients know that we are there.
void keep_warm(std::shared_ptr<runtime::Runtime> runtime, std::weak_ptr<BodyStream> stream) {
  auto& clock = *runtime;
  clock.schedule(clock.now() + heartbeat_interval,
                 [runtime = std::move(runtime), stream]() mutable {
                   const auto open = stream.lock();
                   if (!open || !open->write(comment("still here"))) return;
                   keep_warm(std::move(runtime), std::move(stream));
                 });
}

void subscribe(Services& services, Subscriber subscriber,
               const std::shared_ptr<BodyStream>& stream) {
  stream->write(comment("events of holdfast"));
  // The subscription ends with the stream, and never keeps it alive.
  auto subscription = std::make_shared<EventHub::Subscription>(
      services.events.subscribe(std::move(subscriber.filter), subscriber.after,
                                [weak = std::weak_ptr(stream)](const SharedEvent& event) {
                                  if (const auto open = weak.lock()) open->write(frame(*event));
                                }));
  if (subscription->missed()) {
    stream->write(std::make_shared<const std::string>(
        "event: missed\ndata: {\"reason\":\"events between are no longer kept: list again\"}\n\n"));
  }
  stream->on_closed([subscription]() mutable { subscription->end(); });
  keep_warm(services.core().shared_runtime(), stream);
}

Result<Subscriber> parse(const Call& call) {
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
  auto subscriber = parse(call);
  if (!subscriber) return done(answer(subscriber.error()));
  if (services.events.subscribers() >= services.options().limits.max_event_streams) {
    return done(answer(Error{Errc::limit_reached, "max_event_streams: too many are subscribed"}));
  }
  Response response{.status = 200, .content_type = "text/event-stream"};
  response.stream = [&services, subscriber = std::move(*subscriber)](auto stream) mutable {
    subscribe(services, std::move(subscriber), stream);
  };
  return done(std::move(response));
}

constexpr std::array routes{Route{Method::get, "/v1/events", Access::read, events}};

}  // namespace

extern const std::span<const Route> event_routes;
const std::span<const Route> event_routes = routes;

}  // namespace holdfast::server
