// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/rate_limit.hpp"

#include "backends/redis/keys.hpp"
#include "net/resp/command.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace holdfast::backends::redis {

namespace {

using RateVerb = model::RateCommand::Verb;

std::string_view word_of(RateVerb verb) {
  switch (verb) {
    case RateVerb::check: return "check";
    case RateVerb::peek: return "peek";
    case RateVerb::reset: return "reset";
  }
  std::unreachable();
}

Script script_of(const RateRule& rule) {
  if (rule.layout != RateLayout::native) return Script::shared_window;
  switch (rule.algorithm) {
    case RateAlgorithm::fixed_window: return Script::fixed_window;
    case RateAlgorithm::sliding_window: return Script::sliding_window;
    case RateAlgorithm::token_bucket: return Script::token_bucket;
  }
  std::unreachable();
}

// Those of other programs only begin like this: the window follows, by the server's clock. The
// name's last two words, the layout and the length of the window, are in no key of theirs.
void append_key(std::string& out, const LockName& name, RateLayout layout) {
  const std::string_view ours = name.str();
  const auto theirs = ours.substr(0, ours.rfind(':', ours.rfind(':') - 1));
  switch (layout) {
    case RateLayout::native: out.append(rate_before).append(ours).append(rate_after); return;
    case RateLayout::n8n: out.append(theirs).push_back('-'); return;
    case RateLayout::redisx: out.append("{").append(theirs).append("}:"); return;
  }
}

// What the script has to know of the rule, and the cost.
void add_numbers(net::resp::Command& out, const model::RateCommand& command) {
  const RateRule& rule = command.rule;
  const auto window = static_cast<std::uint64_t>(rule.window.count());
  if (rule.algorithm == RateAlgorithm::token_bucket) {
    const auto common = std::gcd<std::uint64_t>(rule.limit, window);
    out.add(std::uint64_t{rule.capacity()}).add(window / common).add(rule.limit / common);
    out.add(std::uint64_t{command.cost});
    return;
  }
  const bool is_ours = rule.layout == RateLayout::native;
  constexpr std::uint64_t us_per_s = 1'000'000;
  out.add(std::uint64_t{rule.limit}).add(is_ours ? window : window / us_per_s);
  out.add(std::uint64_t{command.cost});
  if (!is_ours) out.add(to_string(rule.layout));
}

std::size_t count_of_numbers(const RateRule& rule) {
  const bool is_bucket = rule.algorithm == RateAlgorithm::token_bucket;
  return is_bucket || rule.layout != RateLayout::native ? 4 : 3;
}

}  // namespace

std::string encode_rate(const Scripts& scripts, const LockName& name,
                        const model::RateCommand& command, Sending sending) {
  thread_local std::string key;
  key.clear();
  append_key(key, name, command.rule.layout);
  const Scripts::Source& source = scripts[script_of(command.rule)];
  const std::string& script = sending.by_text ? source.text : source.sha1;
  constexpr std::size_t around = 192;  // the words and numbers between the texts
  net::resp::Command out(5 + count_of_numbers(command.rule), script.size() + key.size() + around);
  out.add(sending.by_text ? "EVAL" : "EVALSHA").add(script).add("1").add(key);
  out.add(word_of(command.verb));
  add_numbers(out, command);
  return std::move(out).take();
}

Result<store::Reply> decode_rate(const model::RateCommand& command, const redisReply& reply) {
  const auto is_number = [](const redisReply* each) {
    return each->type == REDIS_REPLY_INTEGER && each->integer >= 0;
  };
  const bool has_three = reply.type == REDIS_REPLY_ARRAY && reply.elements == 3 &&
                         std::all_of(reply.element, reply.element + 3, is_number);
  if (!has_three) {
    return fail(Errc::outcome_unknown, "the answer to a check of a rate limit makes no sense");
  }
  const auto count = static_cast<std::uint64_t>(reply.element[0]->integer);
  const auto limit = command.rule.capacity();
  RateOutcome outcome{.count = count, .limit = limit};
  outcome.remaining = count >= limit ? 0 : limit - static_cast<std::uint32_t>(count);
  outcome.retry_after = Micros(reply.element[1]->integer);
  outcome.reset_after = Micros(reply.element[2]->integer);
  // Whoever is denied has to wait for something.
  outcome.allowed = outcome.retry_after == Micros::zero();
  return store::Reply{{}, outcome};
}

}  // namespace holdfast::backends::redis
