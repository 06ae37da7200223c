// SPDX-License-Identifier: Apache-2.0
//
// The functions of the protocol itself: ping, health, capabilities, describe, and those of the
// atomic-lock extension.
#include "forrst/describe.hpp"
#include "forrst/duration.hpp"
#include "forrst/engine.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::forrst {

namespace {

namespace json = boost::json;
using Right = Caller::Right;
using Type = Rule::Type;

constexpr int unhealthy_status = 503;

// Where the pages of the protocol put a function, and where its programs do.
std::vector<std::string> names_of(std::string_view extension, std::string_view function) {
  return {fmt::format("urn:cline:forrst:ext:{}:fn:{}", extension, function),
          fmt::format("urn:cline:forrst:fn:{}", function)};
}

std::vector<std::string> lock_names(std::string_view function) {
  std::vector<std::string> names;
  for (const auto& urn : urns_of(Extension::atomic_lock)) {
    names.push_back(fmt::format("{}:fn:{}", urn, function));
  }
  return names;
}

std::string now_text() { return time_text(std::chrono::system_clock::now()); }

Task<SystemOutcome> done(json::value result, int status = 0) {
  return Task<SystemOutcome>(SystemOutcome{std::move(result), status});
}

Task<SystemOutcome> refused(Fault fault) {
  return Task<SystemOutcome>(SystemOutcome{std::unexpected(std::move(fault))});
}

SystemHandler of_locks(Locks& locks, Task<Outcome> (Locks::*function)(const Turn&)) {
  return [&locks, function](const Turn& turn) -> Task<SystemOutcome> {
    auto working = (locks.*function)(turn);
    Outcome outcome = co_await std::move(working);
    co_return SystemOutcome{std::move(outcome)};
  };
}

json::object component_json(const Component& component) {
  json::object out{{"status", component.is_well ? "healthy" : "unhealthy"},
                   {"latency", to_json(component.latency)},
                   {"last_check", now_text()}};
  if (!component.message.empty()) out["message"] = component.message;
  return out;
}

// Functions that cannot be called now, of all versions.
json::object function_states(const Registry& registry) {
  json::object out;
  for (const auto& name : registry.names()) {
    const auto& versions = *registry.versions_of(name);
    const bool is_off =
        std::ranges::all_of(versions, [](const auto& each) { return each->function.is_disabled; });
    if (is_off) out[name] = json::object{{"status", "disabled"}};
  }
  return out;
}

std::string text_argument(const Turn& turn, std::string_view name) {
  const auto* value = turn.arguments().if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

bool yes_or_no(const Turn& turn, std::string_view name, bool otherwise) {
  const auto* value = turn.arguments().if_contains(name);
  return value != nullptr && value->is_bool() ? value->get_bool() : otherwise;
}

Fault unknown_component(std::string_view name) {
  return {.code = std::string(codes::invalid_arguments),
          .message = fmt::format("There is no component {}", name),
          .pointer = "/call/arguments/component"};
}

Rule key_rule() {
  return {.name = "key",
          .type = Type::string,
          .is_required = true,
          .description = "The key with its prefix, such as lock:payments.charge:user:123",
          .min_length = 1,
          .max_length = max_name_bytes};
}

Rule owner_rule(bool is_required) {
  return {.name = "owner",
          .type = Type::string,
          .is_required = is_required,
          .description = "The owner token of the acquisition",
          .min_length = 1,
          .max_length = max_owner_bytes};
}

// What it must be is said where it is read, in the words of every other door.
Rule fence_rule() {
  return {.name = "fence",
          .description = "The fence of the acquisition: newer leases of the owner are left alone"};
}

Rule duration_rule(std::string name, bool is_required) {
  return {.name = std::move(name), .type = Type::object, .is_required = is_required};
}

}  // namespace

Task<SystemOutcome> Engine::health(const Turn& turn) {
  const auto wanted = text_argument(turn, "component");
  json::object out{{"status", "healthy"}, {"timestamp", now_text()}};
  if (wanted == "self") co_return SystemOutcome{json::value(std::move(out))};
  auto looking = host_->components(core_);
  const std::vector<Component> all = co_await std::move(looking);
  const bool is_known =
      wanted.empty() || std::ranges::any_of(all, [&](const auto& c) { return c.name == wanted; });
  if (!is_known) co_return SystemOutcome{std::unexpected(unknown_component(wanted))};
  json::object components{{"self", json::object{{"status", "healthy"}}}};
  bool is_well = true;
  for (const auto& component : all) {
    if (!wanted.empty() && component.name != wanted) continue;
    is_well = is_well && component.is_well;
    components[component.name] = component_json(component);
  }
  auto functions = function_states(registry_);
  const bool is_whole = functions.empty() || !wanted.empty();
  out["status"] = !is_well ? "unhealthy" : is_whole ? "healthy" : "degraded";
  if (yes_or_no(turn, "include_details", true)) {
    out["components"] = std::move(components);
    if (!functions.empty() && wanted.empty()) out["functions"] = std::move(functions);
    if (!options_.version.empty()) out["version"] = options_.version;
  }
  co_return SystemOutcome{json::value(std::move(out)), is_well ? 0 : unhealthy_status};
}

void Engine::add_system_functions() {
  registry_.add_system({.description = "Says that the server is there"},
                       names_of("diagnostics", "ping"), Right::read, [](const Turn&) {
                         return done({{"status", "healthy"}, {"timestamp", now_text()}});
                       });
  registry_.add_system(
      {.description = "Says how the server and what it rests on are",
       .arguments = {{.name = "component", .type = Type::string},
                     {.name = "include_details", .type = Type::boolean, .by_default = true}}},
      names_of("diagnostics", "health"), Right::read,
      [this](const Turn& turn) { return health(turn); });
  registry_.add_system(
      {.description = "Says what the server can do"}, names_of("discovery", "capabilities"),
      Right::read, [this](const Turn&) { return done(capabilities_json(registry_, options_)); });
  registry_.add_system(
      {.description = "Describes one function, or all",
       .arguments = {{.name = "function", .type = Type::string},
                     {.name = "version", .type = Type::string},
                     {.name = "include_schema", .type = Type::boolean, .by_default = true}}},
      names_of("discovery", "describe"), Right::read, [this](const Turn& turn) {
        auto described = describe(registry_, options_,
                                  {.function = text_argument(turn, "function"),
                                   .version = text_argument(turn, "version"),
                                   .has_schema = yes_or_no(turn, "include_schema", true)});
        return described ? done(std::move(*described)) : refused(std::move(described.error()));
      });
}

void Engine::add_lock_functions() {
  registry_.add_system(
      {.description = "Takes a lock that stays until it is released or its ttl ends",
       .arguments = {{.name = "key", .type = Type::string, .is_required = true, .min_length = 1},
                     duration_rule("ttl", true),
                     {.name = "function", .type = Type::string, .min_length = 1},
                     {.name = "scope", .type = Type::string, .one_of = {"function", "global"}},
                     duration_rule("block", false),
                     owner_rule(false)},
       .side_effects = {"create"}},
      lock_names("acquire"), Right::lock,
      [this](const Turn& turn) { return locks_.acquire(turn); });
  registry_.add_system({.description = "Releases a lock of its owner",
                        .arguments = {key_rule(), owner_rule(true), fence_rule()},
                        .side_effects = {"delete"}},
                       lock_names("release"), Right::lock, of_locks(locks_, &Locks::release));
  registry_.add_system({.description = "Releases a lock whoever holds it; for administrators",
                        .arguments = {key_rule()},
                        .side_effects = {"delete"}},
                       lock_names("force-release"), Right::lock,
                       of_locks(locks_, &Locks::force_release));
  registry_.add_system(
      {.description = "Says who holds a lock", .arguments = {key_rule(), owner_rule(false)}},
      lock_names("status"), Right::read, of_locks(locks_, &Locks::status));
  registry_.add_system({.description = "Gives a lock that is held another ttl",
                        .arguments = {key_rule(), owner_rule(true), duration_rule("ttl", true)},
                        .side_effects = {"update"}},
                       lock_names("renew"), Right::lock, of_locks(locks_, &Locks::renew));
}

}  // namespace holdfast::forrst
