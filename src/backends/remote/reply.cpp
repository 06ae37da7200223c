// SPDX-License-Identifier: Apache-2.0
//
// Outcomes as JSON, and back.
#include "backends/remote/protocol.hpp"
#include "backends/remote/views.hpp"
#include "text/error_codes.hpp"

#include <utility>

namespace holdfast::backends::remote {

namespace json = boost::json;

namespace {

json::object granted_json(const model::Granted& granted) {
  json::object out{{"fence", digits(granted.fence)}, {"remaining_us", granted.remaining.count()}};
  if (granted.held_for) out["held_for_us"] = granted.held_for->count();
  return out;
}

model::Granted read_granted(JsonReader& reader) {
  model::Granted granted{reader.number("fence"), reader.micros("remaining_us")};
  // Older servers do not tell.
  if (reader.has("held_for_us")) granted.held_for = reader.micros("held_for_us");
  return granted;
}

struct OutcomeWriter {
  json::object operator()(const model::Granted& granted) const {
    auto out = granted_json(granted);
    out["type"] = "granted";
    return out;
  }
  json::object operator()(const model::Busy& busy) const {
    return {{"type", "busy"},
            {"retry_after_us", busy.retry_after.count()},
            {"holder_count", busy.holder_count},
            {"holders", holders_json(busy.holders)},
            {"held_by_members", busy.held_by_members},
            {"members", busy.members}};
  }
  json::object operator()(const model::Queued& queued) const {
    return {{"type", "queued"},
            {"place", digits(queued.place)},
            {"ahead", queued.ahead},
            {"retry_after_us", queued.retry_after.count()}};
  }
  json::object operator()(const model::Released& released) const {
    return {{"type", "released"}, {"lease", released.lease}};
  }
  json::object operator()(const model::NotHeld&) const { return {{"type", "not_held"}}; }
  json::object operator()(const model::NotOwner&) const { return {{"type", "not_owner"}}; }
  json::object operator()(const model::Forced& forced) const {
    return {{"type", "forced"}, {"fence", digits(forced.fence)}, {"count", forced.count}};
  }
  json::object operator()(const model::Seen& seen) const {
    json::object out{{"type", "seen"}, {"lock", lock_json(seen.lock)}};
    if (seen.mine) out["mine"] = granted_json(*seen.mine);
    return out;
  }
  json::object operator()(const model::Refused& refused) const {
    return {{"type", "refused"},
            {"code", to_string(refused.error.code)},
            {"message", refused.error.message}};
  }
};

model::Seen read_seen(JsonReader& reader) {
  model::Seen seen;
  if (const auto* lock = reader.object("lock")) {
    JsonReader inner(*lock);
    seen.lock = read_lock(inner);
    if (auto good = inner.done(); !good) reader.refuse("lock", good.error().message);
  }
  if (const auto* mine = reader.object("mine")) {
    JsonReader inner(*mine);
    seen.mine = read_granted(inner);
    if (auto good = inner.done(); !good) reader.refuse("mine", good.error().message);
  }
  return seen;
}

model::Refused read_refused(JsonReader& reader) {
  const auto code = text::parse_errc(reader.text("code"));
  if (!code) reader.refuse("code", "must be a known error");
  return {Error{code.value_or(Errc::unavailable), reader.text("message")}};
}

json::object rate_json(const RateOutcome& outcome) {
  return {{"type", "rate"},
          {"allowed", outcome.allowed},
          {"count", digits(outcome.count)},
          {"limit", outcome.limit},
          {"remaining", outcome.remaining},
          {"retry_after_us", outcome.retry_after.count()},
          {"reset_after_us", outcome.reset_after.count()}};
}

RateOutcome read_rate(JsonReader& reader) {
  const RateOutcome outcome{.allowed = reader.flag("allowed"),
                            .count = reader.number("count"),
                            .limit = reader.small_number("limit"),
                            .remaining = reader.small_number("remaining"),
                            .retry_after = reader.micros("retry_after_us"),
                            .reset_after = reader.micros("reset_after_us")};
  // Whoever waits for its turn would ask again at once, without end.
  constexpr Micros longest(model::limits::max_bucket_units);
  const bool is_time = outcome.retry_after > Micros::zero() && outcome.retry_after <= longest;
  if (!outcome.allowed && !is_time) {
    reader.refuse("retry_after_us", "must be from 1 to 2^52 where it is not allowed");
  }
  return outcome;
}

json::object run_json(const model::RunOutcome& outcome) {
  json::object out{{"type", "run"},
                   {"done", outcome.done},
                   {"found", to_string(outcome.found)},
                   {"fence", digits(outcome.fence)},
                   {"remaining_us", outcome.remaining.count()}};
  if (outcome.answer != Answer{}) out["answer"] = answer_json(outcome.answer);
  if (!outcome.failure.empty()) out["error"] = outcome.failure;
  return out;
}

std::optional<RunFound> parse_found(std::string_view word) {
  for (auto each = std::to_underlying(RunFound::nothing);
       each <= std::to_underlying(RunFound::mismatch); ++each) {
    if (to_string(RunFound{each}) == word) return RunFound{each};
  }
  return std::nullopt;
}

model::RunOutcome read_run(JsonReader& reader) {
  const auto found = parse_found(reader.text("found"));
  if (!found) reader.refuse("found", "must be a known word");
  model::RunOutcome outcome{.done = reader.flag("done"),
                            .found = found.value_or(RunFound::nothing),
                            .fence = reader.number("fence"),
                            .remaining = reader.micros("remaining_us"),
                            .failure = reader.text("error")};
  outcome.answer = read_answer(reader, "answer");
  // A run that is the caller's is surely so for that long.
  if (outcome.remaining < Micros::zero()) reader.refuse("remaining_us", "must not be negative");
  return outcome;
}

model::Outcome read_outcome(JsonReader& reader) {
  using model::LockOutcome;
  const auto type = reader.text("type");
  if (type == "granted") return LockOutcome{read_granted(reader)};
  if (type == "busy") {
    return LockOutcome{
        model::Busy{reader.micros("retry_after_us"), reader.small_number("holder_count"),
                    read_holders(reader, "holders"), reader.small_number("held_by_members"),
                    reader.small_number("members")}};
  }
  if (type == "queued") {
    return LockOutcome{model::Queued{reader.number("place"), reader.small_number("ahead"),
                                     reader.micros("retry_after_us")}};
  }
  if (type == "released") return LockOutcome{model::Released{reader.flag("lease", true)}};
  if (type == "not_held") return LockOutcome{model::NotHeld{}};
  if (type == "not_owner") return LockOutcome{model::NotOwner{}};
  if (type == "forced") {
    return LockOutcome{model::Forced{reader.number("fence"), reader.small_number("count")}};
  }
  if (type == "seen") return LockOutcome{read_seen(reader)};
  if (type == "refused") return LockOutcome{read_refused(reader)};
  if (type == "checked") {
    return model::GuardOutcome{reader.flag("accepted"), reader.number("newest")};
  }
  if (type == "rate") return read_rate(reader);
  if (type == "run") return read_run(reader);
  reader.refuse("type", "is no outcome that we know");
  return LockOutcome{model::NotHeld{}};
}

}  // namespace

json::object to_json(const store::Reply& reply) {
  json::object out{{"at_us", reply.at.time_since_epoch().count()}};
  if (const auto* checked = std::get_if<model::GuardOutcome>(&reply.outcome)) {
    out["outcome"] = {
        {"type", "checked"}, {"accepted", checked->accepted}, {"newest", digits(checked->newest)}};
  } else if (const auto* rate = std::get_if<RateOutcome>(&reply.outcome)) {
    out["outcome"] = rate_json(*rate);
  } else if (const auto* run = std::get_if<model::RunOutcome>(&reply.outcome)) {
    out["outcome"] = run_json(*run);
  } else {
    out["outcome"] = std::visit(OutcomeWriter{}, std::get<model::LockOutcome>(reply.outcome));
  }
  return out;
}

Result<store::Reply> parse_reply(const json::object& object) {
  JsonReader reader(object);
  store::Reply reply{.at = model::StoreTime(reader.micros("at_us")),
                     .outcome = model::LockOutcome{model::NotHeld{}}};
  const auto* outcome = reader.object("outcome");
  if (outcome == nullptr) reader.refuse("outcome", "must be there");
  if (auto good = reader.done(); !good) return std::unexpected(std::move(good.error()));
  JsonReader inner(*outcome);
  reply.outcome = read_outcome(inner);
  if (auto good = inner.done(); !good) return std::unexpected(std::move(good.error()));
  return reply;
}

}  // namespace holdfast::backends::remote
