// SPDX-License-Identifier: Apache-2.0
#include "backends/remote/views.hpp"

#include "text/base64.hpp"
#include "text/words.hpp"

namespace holdfast::backends::remote {

namespace json = boost::json;

namespace {

// Calls `read` with each object of an array; what is none is refused.
template <typename Read>
void each_object(JsonReader& reader, std::string_view name, Read read) {
  const auto* array = reader.array(name);
  if (array == nullptr) return;
  for (const auto& value : *array) {
    const auto* object = value.if_object();
    if (object == nullptr) return reader.refuse(name, "must be an array of objects");
    JsonReader inner(*object);
    read(inner);
    if (auto good = inner.done(); !good) return reader.refuse(name, good.error().message);
  }
}

HolderView read_holder(JsonReader& reader) {
  return {.fence = reader.number("fence"),
          .party = reader.number("party"),
          .permits = reader.small_number("permits", all_permits),
          .claimed = reader.flag("claimed"),
          .remaining = reader.micros("remaining_us"),
          .held_for = reader.micros("held_for_us"),
          .metadata = read_metadata(reader, "metadata")};
}

WaiterView read_waiter(JsonReader& reader) {
  return {.party = reader.number("party"),
          .permits = reader.small_number("permits", all_permits),
          .waiting_for = reader.micros("waiting_for_us"),
          .metadata = read_metadata(reader, "metadata")};
}

json::array waiters_json(const std::vector<WaiterView>& waiters) {
  json::array out;
  for (const auto& each : waiters) {
    out.emplace_back(json::object{{"party", digits(each.party)},
                                  {"permits", each.permits},
                                  {"waiting_for_us", each.waiting_for.count()},
                                  {"metadata", metadata_json(each.metadata.get())}});
  }
  return out;
}

MemberView read_member(JsonReader& reader) {
  const auto state = text::parse_member_state(reader.text("state"));
  if (!state) reader.refuse("state", "must be a known state of a member");
  return {.address = reader.text("address"),
          .state = state.value_or(MemberView::State::refused),
          .counts = reader.flag("counts", true),
          .fence = reader.number("fence"),
          .party = reader.number("party"),
          .holders = reader.small_number("holders"),
          .remaining = reader.micros("remaining_us"),
          .reason = reader.text("reason")};
}

json::array members_json(const std::vector<MemberView>& members) {
  json::array out;
  for (const auto& each : members) {
    out.emplace_back(json::object{{"address", each.address},
                                  {"state", to_string(each.state)},
                                  {"counts", each.counts},
                                  {"fence", digits(each.fence)},
                                  {"party", digits(each.party)},
                                  {"holders", each.holders},
                                  {"remaining_us", each.remaining.count()},
                                  {"reason", each.reason}});
  }
  return out;
}

}  // namespace

json::value metadata_json(const Metadata* metadata) {
  if (metadata == nullptr) return nullptr;
  json::object out{
      {"source", metadata->source}, {"note", metadata->note}, {"value", metadata->value}};
  if (const auto* process = metadata->process.get()) {
    out["process"] = {{"host", process->host},
                      {"program", process->program},
                      {"pid", process->pid},
                      {"started_ms", process->started_ms}};
  }
  return out;
}

MetadataPtr read_metadata(JsonReader& reader, std::string_view name) {
  const auto* object = reader.object(name);
  if (object == nullptr) return nullptr;
  JsonReader inner(*object);
  Metadata metadata{
      .source = inner.text("source"), .note = inner.text("note"), .value = inner.text("value")};
  if (const auto* of_process = inner.object("process")) {
    JsonReader about(*of_process);
    metadata.process = std::make_shared<const ProcessInfo>(
        ProcessInfo{.host = about.text("host"),
                    .program = about.text("program"),
                    .pid = about.signed_number("pid"),
                    .started_ms = about.signed_number("started_ms")});
    if (auto good = about.done(); !good) inner.refuse("process", good.error().message);
  }
  if (auto good = inner.done(); !good) reader.refuse(name, good.error().message);
  return std::make_shared<const Metadata>(std::move(metadata));
}

void write_kind(json::object& out, Kind kind, Order order) {
  out["kind"] = text::to_word(kind);
  out["order"] = text::to_word(order);
}

Kind read_kind(JsonReader& reader) {
  const auto kind = text::parse_kind(reader.text("kind"));
  if (!kind) reader.refuse("kind", "must be a known kind of lock");
  return kind.value_or(Kind::mutex);
}

Order read_order(JsonReader& reader) {
  const auto order = text::parse_order(reader.text("order"));
  if (!order) reader.refuse("order", "must be automatic, fifo or barging");
  return order.value_or(Order::automatic);
}

json::object spec_json(const model::LockSpec& spec) {
  json::object out{{"capacity", spec.capacity}};
  write_kind(out, spec.kind, spec.order);
  return out;
}

model::LockSpec read_spec(JsonReader& reader, std::string_view name) {
  const auto* object = reader.object(name);
  if (object == nullptr) return {};
  JsonReader inner(*object);
  model::LockSpec spec{.kind = read_kind(inner),
                       .order = read_order(inner),
                       .capacity = inner.small_number("capacity", all_permits)};
  if (auto good = inner.done(); !good) reader.refuse(name, good.error().message);
  return spec;
}

json::array holders_json(const std::vector<HolderView>& holders) {
  json::array out;
  for (const auto& each : holders) {
    out.emplace_back(json::object{{"fence", digits(each.fence)},
                                  {"party", digits(each.party)},
                                  {"permits", each.permits},
                                  {"claimed", each.claimed},
                                  {"remaining_us", each.remaining.count()},
                                  {"held_for_us", each.held_for.count()},
                                  {"metadata", metadata_json(each.metadata.get())}});
  }
  return out;
}

std::vector<HolderView> read_holders(JsonReader& reader, std::string_view name) {
  std::vector<HolderView> holders;
  each_object(reader, name, [&](JsonReader& each) { holders.push_back(read_holder(each)); });
  return holders;
}

json::object lock_json(const LockView& lock) {
  json::object out{{"name", lock.name},
                   {"capacity", lock.capacity},
                   {"holders", holders_json(lock.holders)},
                   {"waiters", waiters_json(lock.waiters)}};
  write_kind(out, lock.kind, lock.order);
  if (!lock.members.empty()) out["members"] = members_json(lock.members);
  return out;
}

LockView read_lock(JsonReader& reader) {
  LockView lock{.name = reader.text("name"),
                .kind = read_kind(reader),
                .capacity = reader.small_number("capacity"),
                .order = read_order(reader),
                .holders = read_holders(reader, "holders")};
  each_object(reader, "waiters",
              [&](JsonReader& each) { lock.waiters.push_back(read_waiter(each)); });
  each_object(reader, "members",
              [&](JsonReader& each) { lock.members.push_back(read_member(each)); });
  return lock;
}

json::object answer_json(const Answer& answer) {
  return {{"status", answer.status},
          {"headers", answer.headers},
          {"body", text::to_base64(answer.body)}};
}

Answer read_answer(JsonReader& reader, std::string_view name) {
  const auto* object = reader.object(name);
  if (object == nullptr) return {};
  JsonReader inner(*object);
  const auto status = inner.small_number("status", 200);
  if (status < 100 || status > 599) inner.refuse("status", "must be 100 to 599");
  auto body = text::from_base64(inner.text("body"));
  if (!body) inner.refuse("body", "must be base64");
  Answer answer{.status = static_cast<std::uint16_t>(status),
                .headers = inner.text("headers"),
                .body = std::move(body).value_or(std::string())};
  if (auto good = inner.done(); !good) reader.refuse(name, good.error().message);
  return answer;
}

}  // namespace holdfast::backends::remote
