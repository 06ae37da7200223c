// SPDX-License-Identifier: Apache-2.0
//
// POST /v1/locks:acquire-all: several mutexes or none. They are taken in sorted order, so that two
// callers never wait for each other, and renewed while the others are waited for.
#include "client/held_lease.hpp"
#include "runtime/spawn.hpp"
#include "server/endpoints/v1/encode.hpp"
#include "server/http/call.hpp"
#include "server/http/fields.hpp"
#include "server/locks/grant.hpp"

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace holdfast::server {
namespace {

inline constexpr std::size_t max_names_at_once = 64;

struct AllOrder {
  std::vector<AcquireOrder> orders;  // by name
  Micros wait{};
};

Result<std::vector<std::string>> names_from(Fields& fields) {
  const auto* array = fields.array("names");
  if (array == nullptr || array->empty() || array->size() > max_names_at_once) {
    return fail(Errc::bad_input,
                fmt::format("names: must be an array of 1 to {} names", max_names_at_once));
  }
  std::vector<std::string> names;
  for (const auto& each : *array) {
    if (!each.is_string()) return fail(Errc::bad_input, "names: must be strings");
    names.emplace_back(each.get_string());
  }
  std::ranges::sort(names);
  if (std::ranges::adjacent_find(names) != names.end()) {
    return fail(Errc::bad_input, "names: each may be given only once");
  }
  return names;
}

Result<AllOrder> parse_all(const Call& call) {
  auto body = call.body();
  if (!body) return std::unexpected(std::move(body.error()));
  Fields fields(*body);
  auto names = names_from(fields);
  if (!names) return std::unexpected(std::move(names.error()));
  body->erase("names");
  for (const auto* unfit : {"kind", "capacity", "permits", "mode", "session"}) {
    if (!body->contains(unfit)) continue;
    return fail(Errc::bad_input, fmt::format("{}: several names at once are plain mutexes", unfit));
  }
  // One owner for all of them, so that one release after the other needs only one secret. With a
  // key the owners follow from it, so that a retry finds the leases of the first attempt.
  const bool has_key = call.request.has_header("Idempotency-Key") || body->contains("request");
  if (!has_key && !body->contains("owner")) {
    (*body)["owner"] = call.services.core().fresh_owner().str();
  }
  AllOrder all;
  for (const auto& name : *names) {
    auto order = parse_acquire(call, call.services.core(), name, *body);
    if (!order) return std::unexpected(std::move(order.error()));
    all.wait = order->wanted.wait;
    all.orders.push_back(std::move(*order));
  }
  return all;
}

using Held = std::vector<std::shared_ptr<client::HeldLease>>;

void release(const Held& held) {
  for (const auto& lease : held) {
    lease->core().runtime().post([lease] { runtime::spawn(lease->release()); });
  }
}

using AllWanted = std::vector<client::Wanted>;

// Every lease is brought to its whole ttl before the caller gets any of them.
Task<Response> hand_out(Services& services, Held held, AllWanted all, Micros waited) {
  for (const auto& lease : held) {
    auto extending = lease->extend(all.front().ttl);
    const Result<void> extended = co_await std::move(extending);
    if (!extended) {
      release(held);
      co_return answer(extended.error());
    }
  }
  boost::json::array leases;
  for (const auto& lease : held) {
    leases.emplace_back(lease_json(lease->identity().name.str(), lease->identity().owner.view(),
                                   Taken{{}, lease->fence(), lease->remaining(), waited}));
    lease->detach();
  }
  Response response = answer(200, {{"leases", std::move(leases)}});
  response.undelivered = [core = services.shared_core(), all = std::move(all)] {
    for (const auto& each : all) give_back(core, each);
  };
  co_return response;
}

Task<Response> acquire_each(Services& services, Who who, AllOrder all, std::stop_token stop) {
  auto& runtime = services.core().runtime();
  const auto began = runtime.now();
  Held held;
  AllWanted wanted_by_now;
  for (auto& order : all.orders) {
    const auto left = std::chrono::floor<Micros>(began + all.wait - runtime.now());
    order.wanted.wait = std::max(Micros::zero(), left);
    const client::Wanted wanted = order.wanted;
    Acquisition acquisition{services, who, std::move(order)};
    auto acquiring = acquire(std::move(acquisition), stop);
    const TakeResult taken = co_await std::move(acquiring);
    if (!taken) {
      release(held);
      co_return refusal(taken.error(), Kind::mutex);
    }
    held.push_back(keep_renewed(services.shared_core(), wanted, *taken));
    wanted_by_now.push_back(server::held(wanted, *taken));
  }
  const auto waited = std::chrono::floor<Micros>(runtime.now() - began);
  auto handing = hand_out(services, std::move(held), std::move(wanted_by_now), waited);
  Response response = co_await std::move(handing);
  co_return response;
}

Task<Response> acquire_all(const Call& call) {
  auto all = parse_all(call);
  if (!all) return done(answer(all.error()));
  const bool may = std::ranges::all_of(all->orders, [&](const AcquireOrder& order) {
    return call.principal->may(Verb::lock, order.wanted.name.str());
  });
  if (!may) {
    return done(answer(Problem{403, "forbidden", "your token does not cover all of these names"}));
  }
  return acquire_each(call.services, call.who(), std::move(*all), call.request.stop());
}

constexpr std::array acquire_all_table{
    Route{Method::post, "/v1/locks:acquire-all", Access::lock, acquire_all},
};

}  // namespace

extern const std::span<const Route> acquire_all_routes;
const std::span<const Route> acquire_all_routes = acquire_all_table;

}  // namespace holdfast::server
