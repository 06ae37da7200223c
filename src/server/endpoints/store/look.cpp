// SPDX-License-Identifier: Apache-2.0
//
// The rest of the store protocol: GET /v1/store/stream, list, history, diagnose and info.
#include "client/core.hpp"
#include "server/endpoints/store/protocol.hpp"
#include "server/locks/visible.hpp"

#include <array>
#include <charconv>

namespace holdfast::server {
namespace {

using namespace store_api;

Task<Response> stream(const Call& call) {
  auto& services = call.services;
  if (auto other = other_protocol(call)) return done(std::move(*other));
  if (services.store_streams.is_full()) {
    return done(signed_refusal(
        services,
        Error{Errc::limit_reached, "max_event_streams: this server has no room for another"}));
  }
  Response response{.content_type = "application/x-ndjson"};
  response.stream = [&services, principal = call.principal](StoreStreams::BodyStreamPtr body) {
    services.store_streams.open(std::move(body), principal);
  };
  return done(signed_by(services, std::move(response)));
}

Result<std::uint32_t> number_in(const Query& query, std::string_view name,
                                std::uint32_t otherwise) {
  const auto found = query.find(name);
  if (found == query.end()) return otherwise;
  std::uint32_t number = 0;
  const auto& text = found->second;
  const auto [at, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed == std::errc{} && at == text.data() + text.size()) return number;
  return fail(Errc::bad_input, fmt::format("{}: must be an integer", name));
}

std::string text_in(Query& query, std::string_view name) {
  const auto found = query.find(name);
  return found == query.end() ? std::string() : std::move(found->second);
}

Result<store::ListRequest> parse_list(const Call& call) {
  auto query = call.query();
  if (!query) return std::unexpected(std::move(query.error()));
  const auto limit = number_in(*query, "limit", 100);
  if (!limit) return std::unexpected(limit.error());
  const auto machine = number_in(*query, "machine", 1);
  if (!machine) return std::unexpected(machine.error());
  if (*machine < 1 || *machine > static_cast<unsigned>(model::Machine::fence_guard)) {
    return fail(Errc::bad_input, "machine: there is no such machine");
  }
  return store::ListRequest{.machine = static_cast<model::Machine>(*machine),
                            .prefix = text_in(*query, "prefix"),
                            .cursor = text_in(*query, "cursor"),
                            .limit = *limit};
}

Task<Response> list_page(Services& services, PrincipalPtr principal, store::ListRequest request) {
  auto listing = list_visible(services.shared_core(), std::move(principal), std::move(request));
  Result<LockPage> page = co_await std::move(listing);
  if (!page) co_return signed_refusal(services, page.error());
  co_return answer_json(services, remote::to_json(*page));
}

Task<Response> list(const Call& call) {
  if (auto other = other_protocol(call)) return done(std::move(*other));
  auto request = parse_list(call);
  if (!request) return done(signed_refusal(call.services, request.error()));
  return list_page(call.services, call.principal, std::move(*request));
}

Task<Response> read_history(Services& services, LockName name, std::uint32_t limit) {
  const auto deadline = services.core().runtime().now() + client::command_timeout;
  auto reading = services.core().store().history(std::move(name), limit, deadline);
  const Result<std::vector<LockEvent>> events = co_await std::move(reading);
  if (!events) co_return signed_refusal(services, events.error());
  co_return answer_json(services, remote::to_json(*events));
}

Task<Response> history(const Call& call) {
  auto& services = call.services;
  if (auto other = other_protocol(call)) return done(std::move(*other));
  auto query = call.query();
  if (!query) return done(signed_refusal(services, query.error()));
  const auto limit = number_in(*query, "limit", 100);
  if (!limit) return done(signed_refusal(services, limit.error()));
  auto name = LockName::make(text_in(*query, "name"));
  if (!name) return done(signed_refusal(services, name.error()));
  if (!call.principal->may(Verb::read, name->str())) {
    return done(signed_refusal(services, Problem{403, "forbidden", "the name is not covered"}));
  }
  return read_history(services, std::move(*name), *limit);
}

Task<Response> look_for_trouble(Services& services) {
  const auto deadline = services.core().runtime().now() + client::command_timeout;
  auto looking = services.core().store().diagnose(deadline);
  const Result<std::vector<std::string>> found = co_await std::move(looking);
  if (!found) co_return signed_refusal(services, found.error());
  boost::json::array sentences(found->begin(), found->end());
  co_return answer_json(services, {{"sentences", std::move(sentences)}});
}

Task<Response> diagnose(const Call& call) {
  if (auto other = other_protocol(call)) return done(std::move(*other));
  return look_for_trouble(call.services);
}

// Every combination that a lock can be made with; a semaphore with room for more than one.
std::vector<remote::Unsupported> unsupported_by(const store::Store& store) {
  std::vector<remote::Unsupported> all;
  for (const auto order : {Order::automatic, Order::fifo, Order::barging}) {
    for (auto spec : {model::LockSpec::mutex(order), model::LockSpec::reentrant(order),
                      model::LockSpec::read_write(order), model::LockSpec::semaphore(2, order),
                      model::LockSpec::election()}) {
      spec.order = order;
      auto supported = store.supports(spec);
      if (!supported) all.push_back({spec.kind, order, std::move(supported.error())});
    }
  }
  return all;
}

Task<Response> info(const Call& call) {
  auto& services = call.services;
  if (auto other = other_protocol(call)) return done(std::move(*other));
  const auto& store = services.core().store();
  const auto can = store.capabilities();
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  const remote::Info about{
      .server = services.store_streams.server_id(),
      .describe = store.describe(),
      // An ear belongs to one request, and there every try has its own.
      .queues = can.queues && !can.spends_requests,
      .spends_requests = can.spends_requests,
      .wall_us = static_cast<std::uint64_t>(std::chrono::floor<Micros>(wall).count()),
      .unsupported = unsupported_by(store)};
  return done(answer_json(services, remote::to_json(about)));
}

constexpr std::array store_look_table{
    Route{Method::get, "/v1/store/stream", Access::lock, stream},
    Route{Method::get, "/v1/store/list", Access::read, list},
    Route{Method::get, "/v1/store/history", Access::read, history},
    Route{Method::get, "/v1/store/diagnose", Access::read, diagnose},
    Route{Method::get, "/v1/store/info", Access::read, info},
};

}  // namespace

extern const std::span<const Route> store_look_routes;
const std::span<const Route> store_look_routes = store_look_table;

}  // namespace holdfast::server
