// SPDX-License-Identifier: Apache-2.0
//
// Commands as JSON, and back.
#include "backends/remote/protocol.hpp"
#include "backends/remote/views.hpp"

namespace holdfast::backends::remote {

namespace json = boost::json;
using model::RequestId;

namespace {

std::string digits_of(RequestId request) { return digits(static_cast<std::uint64_t>(request)); }

// What each verb adds.
struct Writer {
  json::object& out;

  void operator()(const model::Acquire& verb) const {
    out["verb"] = "acquire";
    out["owner"] = verb.owner.view();
    out["request"] = digits_of(verb.request);
    out["permits"] = verb.permits;
    out["ttl_us"] = verb.ttl.count();
    out["wait"] = verb.wait;
    out["place"] = digits(verb.place);
    out["claim_us"] = verb.claim.count();
    out["converts"] = digits_of(verb.converts);
    out["known"] = digits(verb.known);
    out["metadata"] = metadata_json(verb.metadata.get());
  }
  void operator()(const model::Renew& verb) const {
    out["verb"] = "renew";
    out["owner"] = verb.owner.view();
    out["request"] = digits_of(verb.request);
    out["ttl_us"] = verb.ttl.count();
  }
  void operator()(const model::Release& verb) const {
    out["verb"] = "release";
    out["owner"] = verb.owner.view();
    out["request"] = digits_of(verb.request);
    out["only_unconfirmed"] = verb.only_unconfirmed;
  }
  void operator()(const model::Inspect& verb) const {
    out["verb"] = "inspect";
    if (verb.owner) out["owner"] = verb.owner->view();
  }
  void operator()(const model::ForceRelease& verb) const {
    out["verb"] = "force";
    out["up_to"] = digits(verb.up_to);
  }
};

OwnerId read_owner(JsonReader& reader) {
  auto owner = OwnerId::make(reader.text("owner"));
  if (owner) return std::move(*owner);
  reader.refuse("owner", owner.error().message);
  return OwnerId::from_random(0, 0);
}

RequestId read_request(JsonReader& reader, std::string_view name = "request") {
  return RequestId{reader.number(name)};
}

model::Acquire read_acquire(JsonReader& reader) {
  return {.owner = read_owner(reader),
          .request = read_request(reader),
          .permits = reader.small_number("permits", all_permits),
          .ttl = reader.micros("ttl_us"),
          .wait = reader.flag("wait"),
          .place = reader.number("place"),
          .claim = reader.micros("claim_us", model::limits::default_claim),
          .converts = read_request(reader, "converts"),
          .known = reader.number("known"),
          .process = model::ProcessId::none,
          .metadata = read_metadata(reader, "metadata")};
}

using Verb = decltype(model::LockCommand::verb);

Verb read_verb(JsonReader& reader, std::string_view verb) {
  if (verb == "acquire") return read_acquire(reader);
  if (verb == "renew") {
    return model::Renew{read_owner(reader), read_request(reader), reader.micros("ttl_us")};
  }
  if (verb == "release") {
    return model::Release{read_owner(reader), read_request(reader),
                          reader.flag("only_unconfirmed")};
  }
  if (verb == "force") return model::ForceRelease{reader.number("up_to", UINT64_MAX)};
  if (verb != "inspect") {
    reader.refuse("verb", "must be acquire, renew, release, inspect, force or check");
  }
  model::Inspect inspect;
  if (!reader.text("owner").empty()) inspect.owner = read_owner(reader);
  return inspect;
}

model::Command read_command(JsonReader& reader) {
  const auto verb = reader.text("verb");
  if (verb == "check") {
    return model::GuardCommand{reader.number("fence"),
                               reader.micros("keep_us", model::limits::default_guard_keep)};
  }
  return model::LockCommand{read_spec(reader, "spec"), read_verb(reader, verb)};
}

}  // namespace

json::object to_json(const Question& question) {
  json::object out{{"name", question.name.str()}, {"timeout_us", question.timeout.count()}};
  if (!question.stream.empty()) out["stream"] = question.stream;
  if (const auto* check = std::get_if<model::GuardCommand>(&question.command)) {
    out["verb"] = "check";
    out["fence"] = digits(check->fence);
    out["keep_us"] = check->keep.count();
    return out;
  }
  const auto& lock = std::get<model::LockCommand>(question.command);
  out["spec"] = spec_json(lock.spec);
  std::visit(Writer{out}, lock.verb);
  return out;
}

Result<Question> parse_question(const json::object& object) {
  JsonReader reader(object);
  auto name = LockName::make(reader.text("name"));
  if (!name) return std::unexpected(std::move(name.error()));
  Question question{std::move(*name), read_command(reader), reader.text("stream"),
                    reader.micros("timeout_us")};
  if (auto good = reader.done(); !good) return std::unexpected(std::move(good.error()));
  return question;
}

}  // namespace holdfast::backends::remote
