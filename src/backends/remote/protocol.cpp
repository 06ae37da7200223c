// SPDX-License-Identifier: Apache-2.0
//
// Everything of the protocol but commands and outcomes.
#include "backends/remote/protocol.hpp"

#include "backends/remote/views.hpp"
#include "text/error_codes.hpp"

namespace holdfast::backends::remote {

namespace json = boost::json;

namespace {

// The objects of an array, each read by `read`.
template <typename T, typename Read>
Result<std::vector<T>> read_all(const json::object& object, std::string_view name, Read read) {
  JsonReader outer(object);
  const auto* array = outer.array(name);
  if (array == nullptr) outer.refuse(name, "must be there");
  if (auto good = outer.done(); !good) return std::unexpected(std::move(good.error()));
  std::vector<T> all;
  for (const auto& value : *array) {
    const auto* each = value.if_object();
    if (each == nullptr) return fail(Errc::bad_input, std::string(name) + ": must have objects");
    JsonReader reader(*each);
    all.push_back(read(reader));
    if (auto good = reader.done(); !good) return std::unexpected(std::move(good.error()));
  }
  return all;
}

Unsupported read_unsupported(JsonReader& reader) {
  return {.kind = read_kind(reader),
          .order = read_order(reader),
          .reason = {text::parse_errc(reader.text("code")).value_or(Errc::unsupported),
                     reader.text("message")}};
}

LockEvent read_event(JsonReader& reader) {
  return {.at = std::chrono::system_clock::time_point(reader.micros("at_us")),
          .what = reader.text("what"),
          .fence = reader.number("fence"),
          .permits = reader.small_number("permits", all_permits),
          .metadata = read_metadata(reader, "metadata")};
}

model::Grant read_grant(JsonReader& reader) {
  return {.fence = reader.number("fence"),
          .at = model::StoreTime(reader.micros("at_us")),
          .lease = reader.micros("lease_us")};
}

}  // namespace

json::object to_json(const Line& line) {
  const auto& message = line.message;
  json::object out{{"name", line.name.str()},
                   {"owner", message.owner.view()},
                   {"request", digits(static_cast<std::uint64_t>(message.request))},
                   {"reason", message.grant ? "granted" : "hint"}};
  if (!message.grant) return out;
  out["grant"] = {{"fence", digits(message.grant->fence)},
                  {"at_us", message.grant->at.time_since_epoch().count()},
                  {"lease_us", message.grant->lease.count()}};
  return out;
}

Result<Line> parse_line(const json::object& object) {
  JsonReader reader(object);
  auto name = LockName::make(reader.text("name"));
  if (!name) return std::unexpected(std::move(name.error()));
  auto owner = OwnerId::make(reader.text("owner"));
  if (!owner) return std::unexpected(std::move(owner.error()));
  model::Message message{.owner = std::move(*owner),
                         .request = model::RequestId{reader.number("request")}};
  if (const auto* grant = reader.object("grant")) {
    JsonReader inner(*grant);
    message.grant = read_grant(inner);
    if (auto good = inner.done(); !good) reader.refuse("grant", good.error().message);
  }
  if (auto good = reader.done(); !good) return std::unexpected(std::move(good.error()));
  return Line{std::move(*name), std::move(message)};
}

json::object to_json(const Info& info) {
  json::array unsupported;
  for (const auto& each : info.unsupported) {
    json::object one{{"code", to_string(each.reason.code)}, {"message", each.reason.message}};
    write_kind(one, each.kind, each.order);
    unsupported.emplace_back(std::move(one));
  }
  return {{"protocol", protocol_version},
          {"server", info.server},
          {"describe", info.describe},
          {"queues", info.queues},
          {"spends_requests", info.spends_requests},
          {"wall_us", digits(info.wall_us)},
          {"unsupported", std::move(unsupported)}};
}

Result<Info> parse_info(const json::object& object) {
  JsonReader reader(object);
  Info info{.server = reader.text("server"),
            .describe = reader.text("describe"),
            .queues = reader.flag("queues", true),
            .spends_requests = reader.flag("spends_requests", false),
            .wall_us = reader.number("wall_us")};
  if (auto good = reader.done(); !good) return std::unexpected(std::move(good.error()));
  auto unsupported = read_all<Unsupported>(object, "unsupported", read_unsupported);
  if (!unsupported) return std::unexpected(std::move(unsupported.error()));
  info.unsupported = std::move(*unsupported);
  return info;
}

json::object to_json(const LockPage& page) {
  json::array locks;
  for (const auto& each : page.locks) locks.emplace_back(lock_json(each));
  return {{"locks", std::move(locks)}, {"next", page.next}};
}

Result<LockPage> parse_page(const json::object& object) {
  auto locks = read_all<LockView>(object, "locks", read_lock);
  if (!locks) return std::unexpected(std::move(locks.error()));
  JsonReader reader(object);
  LockPage page{.locks = std::move(*locks), .next = reader.text("next")};
  if (auto good = reader.done(); !good) return std::unexpected(std::move(good.error()));
  return page;
}

json::object to_json(const std::vector<LockEvent>& events) {
  json::array out;
  for (const auto& each : events) {
    const auto at = std::chrono::floor<Micros>(each.at.time_since_epoch());
    out.emplace_back(json::object{{"at_us", at.count()},
                                  {"what", each.what},
                                  {"fence", digits(each.fence)},
                                  {"permits", each.permits},
                                  {"metadata", metadata_json(each.metadata.get())}});
  }
  return {{"events", std::move(out)}};
}

Result<std::vector<LockEvent>> parse_events(const json::object& object) {
  return read_all<LockEvent>(object, "events", read_event);
}

}  // namespace holdfast::backends::remote
