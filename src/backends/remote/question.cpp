// SPDX-License-Identifier: Apache-2.0
//
// Commands as JSON, and back.
#include "backends/remote/protocol.hpp"
#include "backends/remote/views.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <iterator>

namespace holdfast::backends::remote {

namespace json = boost::json;
using model::RequestId;

namespace {

std::string digits_of(RequestId request) { return digits(static_cast<std::uint64_t>(request)); }

// What each verb adds.
struct VerbWriter {
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
    // A server that does not know it ends newer leases of the owner too, as all did before.
    if (verb.request == RequestId::any) out["up_to"] = digits(verb.up_to);
  }
  void operator()(const model::Inspect& verb) const {
    out["verb"] = "inspect";
    if (verb.owner) out["owner"] = verb.owner->view();
  }
  void operator()(const model::ForceRelease& verb) const {
    out["up_to"] = digits(verb.up_to);
    out["verb"] = verb.source.empty() ? "force" : "force_source";
    // Under a verb of its own: a server that does not know it must not end every lease instead.
    if (!verb.source.empty()) out["source"] = verb.source;
  }
};

constexpr std::string_view rate_verbs[] = {"rate_check", "rate_peek", "rate_reset"};

void write_rate(json::object& out, const model::RateCommand& command) {
  out["verb"] = rate_verbs[static_cast<std::size_t>(command.verb) - 1];
  out["cost"] = command.cost;
  out["rule"] = {{"algorithm", to_string(command.rule.algorithm)},
                 {"limit", command.rule.limit},
                 {"window_us", command.rule.window.count()},
                 {"burst", command.rule.burst},
                 {"layout", to_string(command.rule.layout)}};
}

RateRule read_rule(JsonReader& reader) {
  const auto algorithm = text::parse_rate_algorithm(reader.text("algorithm"));
  if (!algorithm) reader.refuse("algorithm", "must be a known one");
  const auto layout = text::parse_rate_layout(reader.text("layout"));
  if (!layout) reader.refuse("layout", "must be a known one");
  return {.algorithm = algorithm.value_or(RateAlgorithm::sliding_window),
          .limit = reader.small_number("limit"),
          .window = reader.micros("window_us"),
          .burst = reader.small_number("burst"),
          .layout = layout.value_or(RateLayout::native)};
}

model::RateCommand read_rate(JsonReader& reader, model::RateCommand::Verb verb) {
  model::RateCommand command{.verb = verb, .rule = {}, .cost = reader.small_number("cost", 1)};
  const auto* rule = reader.object("rule");
  if (rule == nullptr) {
    reader.refuse("rule", "must be there");
    return command;
  }
  JsonReader inner(*rule);
  command.rule = read_rule(inner);
  if (auto good = inner.done(); !good) reader.refuse("rule", good.error().message);
  return command;
}

constexpr std::string_view run_verbs[] = {"run_begin",   "run_renew", "run_complete", "run_fail",
                                          "run_abandon", "run_look",  "run_forget"};

void write_run(json::object& out, const model::RunCommand& command) {
  out["verb"] = run_verbs[static_cast<std::size_t>(command.verb) - 1];
  out["owner"] = command.owner;
  out["fingerprint"] = command.fingerprint;
  out["guard_us"] = command.guard.count();
  out["keep_us"] = command.keep.count();
  out["takes_over"] = command.takes_over;
  if (command.verb == model::RunCommand::Verb::complete) {
    out["answer"] = answer_json(command.answer);
  }
  if (command.verb == model::RunCommand::Verb::fail) out["error"] = command.failure;
}

model::RunCommand read_run(JsonReader& reader, model::RunCommand::Verb verb) {
  model::RunCommand command{.verb = verb,
                            .owner = reader.text("owner"),
                            .fingerprint = reader.text("fingerprint"),
                            .guard = reader.micros("guard_us"),
                            .keep = reader.micros("keep_us"),
                            .takes_over = reader.flag("takes_over", true),
                            .failure = reader.text("error")};
  if (verb == model::RunCommand::Verb::complete) {
    if (reader.object("answer") == nullptr) reader.refuse("answer", "must be there");
    command.answer = read_answer(reader, "answer");
  }
  return command;
}

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
    return model::Release{read_owner(reader), read_request(reader), reader.flag("only_unconfirmed"),
                          reader.number("up_to", UINT64_MAX)};
  }
  if (verb == "force") return model::ForceRelease{reader.number("up_to", UINT64_MAX)};
  if (verb == "force_source") {
    model::ForceRelease force{reader.number("up_to", UINT64_MAX), reader.text("source")};
    if (force.source.empty()) reader.refuse("source", "must not be empty");
    return force;
  }
  if (verb != "inspect") {
    reader.refuse("verb",
                  "must be acquire, renew, release, inspect, force, force_source, check, "
                  "rate_check, rate_peek, rate_reset, run_begin, run_renew, run_complete, "
                  "run_fail, run_abandon, run_look or run_forget");
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
  const auto* rate = std::ranges::find(rate_verbs, verb);
  if (rate != std::end(rate_verbs)) {
    return read_rate(reader, static_cast<model::RateCommand::Verb>(rate - rate_verbs + 1));
  }
  const auto* run = std::ranges::find(run_verbs, verb);
  if (run != std::end(run_verbs)) {
    return read_run(reader, static_cast<model::RunCommand::Verb>(run - run_verbs + 1));
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
  if (const auto* rate = std::get_if<model::RateCommand>(&question.command)) {
    write_rate(out, *rate);
    return out;
  }
  if (const auto* run = std::get_if<model::RunCommand>(&question.command)) {
    write_run(out, *run);
    return out;
  }
  const auto& lock = std::get<model::LockCommand>(question.command);
  out["spec"] = spec_json(lock.spec);
  std::visit(VerbWriter{out}, lock.verb);
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
