// SPDX-License-Identifier: Apache-2.0
#include "model/rate_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace holdfast::model {

namespace {

// A bucket as whole numbers: a token is `per_token` units, and `per_us` of them come back in each
// microsecond. Both are as small as the rule allows.
struct Bucket {
  std::uint64_t per_token = 1;
  std::uint64_t per_us = 1;
  std::uint64_t capacity = 1;

  explicit Bucket(const RateRule& rule) {
    const auto window = static_cast<std::uint64_t>(rule.window.count());
    const auto common = std::gcd<std::uint64_t>(rule.limit, window);
    per_token = window / common;
    per_us = rule.limit / common;
    capacity = per_token * rule.capacity();
  }
};

Micros time_to_drain(std::uint64_t units, std::uint64_t per_us) {
  return Micros((units + per_us - 1) / per_us);
}

bool is_exact(const RateRule& rule) {
  const auto window = static_cast<std::uint64_t>(rule.window.count());
  const auto per_token = window / std::gcd<std::uint64_t>(rule.limit, window);
  return per_token <= limits::max_bucket_units / rule.capacity();
}

Result<void> check_words(const RateRule& rule) {
  const bool is_algorithm = rule.algorithm >= RateAlgorithm::fixed_window &&
                            rule.algorithm <= RateAlgorithm::token_bucket;
  if (!is_algorithm) {
    return fail(Errc::bad_input, "algorithm: must be fixed_window, sliding_window or token_bucket");
  }
  if (rule.layout > RateLayout::redisx) {
    return fail(Errc::bad_input, "layout: must be native, n8n or redisx");
  }
  return {};
}

Result<void> admissible(const RateRule& rule) {
  if (auto good = check_words(rule); !good) return good;
  if (rule.limit == 0 || rule.limit > max_rate_limit) {
    return fail(Errc::bad_input,
                fmt::format("limit: must be from 1 to 1000000000; got {}", rule.limit));
  }
  if (rule.window < min_rate_window || rule.window > max_rate_window) {
    return fail(Errc::bad_input, fmt::format("window: must be from 1ms to 31d; got {} microseconds",
                                             rule.window.count()));
  }
  if (rule.burst > max_rate_limit) {
    return fail(Errc::bad_input,
                fmt::format("burst: must be at most 1000000000; got {}", rule.burst));
  }
  const bool is_bucket = rule.algorithm == RateAlgorithm::token_bucket;
  if (rule.burst != 0 && !is_bucket) {
    return fail(Errc::bad_input, "burst: only a token_bucket has one");
  }
  if (is_bucket && !is_exact(rule)) {
    return fail(Errc::bad_input,
                "limit and window: their ratio is too fine to be counted exactly; use rounder "
                "numbers, or a smaller burst");
  }
  if (rule.layout == RateLayout::native) return {};
  if (rule.algorithm != RateAlgorithm::fixed_window) {
    return fail(Errc::bad_input, "layout: other programs' keys are fixed windows");
  }
  if (rule.window % std::chrono::seconds(1) != Micros::zero()) {
    return fail(Errc::bad_input, "window: must be whole seconds in another program's layout");
  }
  return {};
}

// Drops what the window has left behind. Answers what is left.
std::uint64_t slide(std::vector<RateState::Hits>& hits, Micros window, StoreTime time) {
  const auto gone = std::ranges::find_if(
      hits, [&](const RateState::Hits& each) { return each.at + window > time; });
  hits.erase(hits.begin(), gone);
  return std::accumulate(hits.begin(), hits.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& each) { return sum + each.count; });
}

void add_hits(std::vector<RateState::Hits>& hits, const RateCommand& command, StoreTime time) {
  const Micros slice = command.rule.limit > limits::rate_slices
                           ? command.rule.window / limits::rate_slices
                           : Micros(1);
  const auto slice_of = [&](StoreTime at) { return at.time_since_epoch() / slice; };
  if (!hits.empty() && slice_of(hits.back().at) == slice_of(time)) {
    hits.back().at = time;
    hits.back().count += command.cost;
  } else {
    hits.push_back({time, command.cost});
  }
}

std::uint32_t left_of(std::uint32_t limit, std::uint64_t count) {
  return count >= limit ? 0 : limit - static_cast<std::uint32_t>(count);
}

RateOutcome fixed_window(RateState& state, const RateCommand& command, StoreTime time) {
  const auto& rule = command.rule;
  const StoreTime begin = StoreTime(time.time_since_epoch() / rule.window * rule.window);
  if (state.begin != begin) state.count = 0;
  state.begin = begin;
  const Micros left = begin + rule.window - time;
  const bool is_check = command.verb == RateCommand::Verb::check;
  RateOutcome outcome{.limit = rule.limit};
  outcome.allowed = state.count + command.cost <= rule.limit;
  if (is_check && (outcome.allowed || rule.layout != RateLayout::native)) {
    state.count += command.cost;
  }
  outcome.count = state.count;
  outcome.remaining = left_of(rule.limit, state.count);
  if (!outcome.allowed) outcome.retry_after = left;
  if (state.count > 0) outcome.reset_after = left;
  return outcome;
}

RateOutcome sliding_window(RateState& state, const RateCommand& command, StoreTime time) {
  const auto& rule = command.rule;
  auto count = slide(state.hits, rule.window, time);
  RateOutcome outcome{.limit = rule.limit};
  outcome.allowed = count + command.cost <= rule.limit;
  if (!outcome.allowed) {
    auto staying = count;
    for (const auto& each : state.hits) {
      staying -= each.count;
      outcome.retry_after = each.at + rule.window - time;
      if (staying + command.cost <= rule.limit) break;
    }
  } else if (command.verb == RateCommand::Verb::check) {
    add_hits(state.hits, command, time);
    count += command.cost;
  }
  outcome.count = count;
  outcome.remaining = left_of(rule.limit, count);
  if (!state.hits.empty()) outcome.reset_after = state.hits.back().at + rule.window - time;
  return outcome;
}

// What is missing now. Another rule may count a token in other units. One that holds fewer of them
// finds more missing than it holds, and waits: what others used is not given back for it.
std::uint64_t drained(const RateState& state, const Bucket& bucket, Micros elapsed) {
  auto level = state.level;
  if (level > 0 && state.units != bucket.per_token) {
    // In doubles, step by step, as the script in Redis does it.
    const double tokens = static_cast<double>(level) / static_cast<double>(state.units);
    const double converted = std::ceil(tokens * static_cast<double>(bucket.per_token));
    constexpr auto most = static_cast<double>(limits::max_bucket_units);
    level = static_cast<std::uint64_t>(std::min(converted, most));
  }
  if (elapsed >= time_to_drain(level, bucket.per_us)) return 0;
  return level - static_cast<std::uint64_t>(elapsed.count()) * bucket.per_us;
}

RateOutcome token_bucket(RateState& state, const RateCommand& command, StoreTime time) {
  const Bucket bucket(command.rule);
  state.level = drained(state, bucket, time - state.seen);
  state.units = bucket.per_token;
  const auto wanted = command.cost * bucket.per_token;
  RateOutcome outcome{.limit = command.rule.capacity()};
  outcome.allowed = state.level + wanted <= bucket.capacity;
  if (!outcome.allowed) {
    outcome.retry_after = time_to_drain(state.level + wanted - bucket.capacity, bucket.per_us);
  } else if (command.verb == RateCommand::Verb::check) {
    state.level += wanted;
  }
  // A part of a token counts as one.
  outcome.count = (state.level + bucket.per_token - 1) / bucket.per_token;
  outcome.remaining = left_of(outcome.limit, outcome.count);
  outcome.reset_after = time_to_drain(state.level, bucket.per_us);
  return outcome;
}

RateOutcome count(RateState& state, const RateCommand& command, StoreTime time) {
  switch (command.rule.algorithm) {
    case RateAlgorithm::fixed_window: return fixed_window(state, command, time);
    case RateAlgorithm::sliding_window: return sliding_window(state, command, time);
    case RateAlgorithm::token_bucket: return token_bucket(state, command, time);
  }
  return {};
}

}  // namespace

Result<void> admissible(const RateCommand& command) {
  const bool is_verb =
      command.verb >= RateCommand::Verb::check && command.verb <= RateCommand::Verb::reset;
  if (!is_verb) return fail(Errc::bad_input, "verb: must be check, peek or reset");
  if (auto good = admissible(command.rule); !good) return good;
  if (command.verb == RateCommand::Verb::reset) return {};
  if (command.cost == 0 || command.cost > command.rule.capacity()) {
    return fail(Errc::bad_input, fmt::format("cost: must be from 1 to {}, what can be had at once; "
                                             "got {}",
                                             command.rule.capacity(), command.cost));
  }
  return {};
}

RateOutcome step(RateState& state, const RateCommand& command, StoreTime now) {
  assert(admissible(command));
  if (command.verb == RateCommand::Verb::reset) {
    state = {};
    const auto all = command.rule.capacity();
    return {.allowed = true, .limit = all, .remaining = all};
  }
  // A name that was counted in another way before is another limit from now on.
  const bool begins_anew = forgettable(state, now) || state.algorithm != command.rule.algorithm;
  RateState next = begins_anew ? RateState{} : state;
  next.algorithm = command.rule.algorithm;
  // Another program's windows are by the clock alone.
  const bool is_ours = command.rule.layout == RateLayout::native;
  if (is_ours && now + next.ahead < next.seen) next.ahead = next.seen - now;
  const bool was_set_back = next.ahead != state.ahead && next.ahead > Micros::zero();
  const StoreTime time = is_ours ? now + next.ahead : now;
  RateOutcome outcome = count(next, command, time);
  const bool is_check = command.verb == RateCommand::Verb::check;
  const bool counted = is_check && (outcome.allowed || !is_ours);
  if (!counted && !begins_anew) {
    // What was counted under a faster rule is forgotten when that rule said so.
    outcome.retry_after = std::min(outcome.retry_after, state.expires - now);
    outcome.reset_after = std::min(outcome.reset_after, state.expires - now);
  }
  if (counted || (is_check && was_set_back)) {
    next.seen = time;
    next.expires = now + outcome.reset_after;
    state = std::move(next);
  }
  return outcome;
}

bool forgettable(const RateState& state, StoreTime now) { return state.expires <= now; }

}  // namespace holdfast::model
