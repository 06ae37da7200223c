// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/idempotency.hpp"

#include "backends/redis/keys.hpp"
#include "model/utf8.hpp"
#include "net/resp/command.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace holdfast::backends::redis {

namespace {

using net::resp::text_of;
using RunVerb = model::RunCommand::Verb;

std::string_view word_of(RunVerb verb) {
  switch (verb) {
    case RunVerb::begin: return "begin";
    case RunVerb::renew: return "renew";
    case RunVerb::complete: return "complete";
    case RunVerb::fail: return "fail";
    case RunVerb::abandon: return "abandon";
    case RunVerb::look: return "look";
    case RunVerb::forget: return "forget";
  }
  std::unreachable();
}

// Whoever has no guard still has to tell whether a run of RedisX has been abandoned: its own guard
// is as long by default.
Micros guard_of(const model::RunCommand& command) {
  return command.guard > Micros::zero() ? command.guard : default_guard;
}

std::size_t count_of_results(RunVerb verb) {
  return verb == RunVerb::complete ? 3 : verb == RunVerb::fail ? 1 : 0;
}

void add_result(net::resp::Command& out, const model::RunCommand& command) {
  if (command.verb == RunVerb::complete) {
    out.add(std::uint64_t{command.answer.status});
    out.add(command.answer.headers).add(command.answer.body);
  }
  if (command.verb == RunVerb::fail) out.add(command.failure);
}

// Headers are one JSON text: half of it would be worth nothing.
std::string whole_or_none(std::string_view headers) {
  auto text = model::mended(headers, max_answer_header_bytes);
  if (text != headers) text.clear();
  return text;
}

bool is_number(const redisReply* each) {
  return each->type == REDIS_REPLY_INTEGER && each->integer >= 0;
}
bool is_text(const redisReply* each) { return each->type == REDIS_REPLY_STRING; }

// Done, found, fence and remaining; then status, headers and response, or the failure.
std::optional<model::RunOutcome> outcome_in(const redisReply& reply) {
  if (reply.type != REDIS_REPLY_ARRAY || reply.elements < 4) return std::nullopt;
  if (!std::all_of(reply.element, reply.element + 4, is_number)) return std::nullopt;
  const auto found = reply.element[1]->integer;
  const bool is_known = found >= std::to_underlying(RunFound::nothing) &&
                        found <= std::to_underlying(RunFound::mismatch);
  if (!is_known || reply.element[0]->integer > 1) return std::nullopt;
  model::RunOutcome outcome{.done = reply.element[0]->integer == 1,
                            .found = static_cast<RunFound>(found),
                            .fence = static_cast<Fence>(reply.element[2]->integer),
                            .remaining = Micros(reply.element[3]->integer)};
  if (reply.elements == 4) return outcome;
  if (reply.elements == 5 && outcome.found == RunFound::failed && is_text(reply.element[4])) {
    outcome.failure = model::mended(text_of(*reply.element[4]), max_failure_bytes);
    return outcome;
  }
  const bool has_answer = reply.elements == 7 && outcome.found == RunFound::completed &&
                          is_number(reply.element[4]) && is_text(reply.element[5]) &&
                          is_text(reply.element[6]);
  if (!has_answer) return std::nullopt;
  outcome.answer = {.status = static_cast<std::uint16_t>(reply.element[4]->integer),
                    .headers = whole_or_none(text_of(*reply.element[5])),
                    .body = std::string(text_of(*reply.element[6]))};
  return outcome;
}

}  // namespace

std::string encode_run(const Scripts& scripts, const LockName& name,
                       const model::RunCommand& command, Sending sending) {
  thread_local std::string key;
  key.assign(run_before).append(name.str());
  const Scripts::Source& source = scripts[Script::run];
  const std::string& script = sending.by_text ? source.text : source.sha1;
  constexpr std::size_t around = 512;  // the words, numbers and short texts
  net::resp::Command out(11 + count_of_results(command.verb),
                         script.size() + key.size() + command.answer.headers.size() +
                             command.answer.body.size() + command.failure.size() + around);
  out.add(sending.by_text ? "EVAL" : "EVALSHA").add(script).add("2").add(key).add(counter_key);
  out.add(word_of(command.verb)).add(command.owner).add(command.fingerprint);
  out.add(to_ms(guard_of(command))).add(to_ms(command.keep)).add(command.takes_over ? "1" : "0");
  add_result(out, command);
  return std::move(out).take();
}

Result<store::Reply> decode_run(const redisReply& reply) {
  auto outcome = outcome_in(reply);
  if (!outcome) {
    return fail(Errc::outcome_unknown, "the answer to a command about a run makes no sense");
  }
  return store::Reply{{}, std::move(*outcome)};
}

}  // namespace holdfast::backends::redis
