// SPDX-License-Identifier: Apache-2.0
#include "compare.hpp"

#include "describe.hpp"
#include "model/codec.hpp"
#include "model/step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace holdfast::test {

namespace {

using Difference = std::optional<std::string>;

Difference differ(std::string_view what, std::string_view model, std::string_view redis) {
  if (model == redis) return std::nullopt;
  return fmt::format("{}\nmodel:\n{}\nredis:\n{}\n", what, model, redis);
}

std::string bytes_of(const model::LockState& state) {
  std::string bytes;
  model::encode(state, bytes);
  return bytes;
}

auto identity_of(const model::Hold& hold) { return std::tuple(hold.owner.view(), hold.request); }

// Without what has ended, which may be there or not, and without what Redis does not keep: the
// order of holds, and the ttl they were last renewed with.
model::LockState essence_of(model::LockState state, model::StoreTime now) {
  const auto ended = [now](const model::Hold& hold) { return hold.expires <= now; };
  state.holds.erase(std::remove_if(state.holds.begin(), state.holds.end(), ended),
                    state.holds.end());
  if (state.queue_expires <= now) state.queue.clear();
  if (state.idle()) return {};
  if (state.queue.empty()) state.queue_expires = {};
  if (state.queue.empty()) state.offer = {};
  for (auto& hold : state.holds) hold.ttl = {};
  std::ranges::sort(state.holds, {}, identity_of);
  return state;
}

bool pair_numbers(const model::LockState& model, const model::LockState& redis, Numbers& numbers) {
  if (model.holds.size() != redis.holds.size() || model.queue.size() != redis.queue.size()) {
    return false;
  }
  bool agree = true;
  for (std::size_t i = 0; i < model.holds.size(); ++i) {
    agree = numbers.pair(model.holds[i].fence, redis.holds[i].fence) && agree;
  }
  auto other = redis.queue.begin();
  for (const auto& [place, waiter] : model.queue) {
    agree = numbers.pair(place, (other++)->first) && agree;
  }
  return agree;
}

void translate(model::LockState& redis, const Numbers& numbers) {
  for (auto& hold : redis.holds) hold.fence = numbers.to_model(hold.fence);
  std::map<std::uint64_t, model::Waiter> queue;
  for (auto& [place, waiter] : redis.queue) {
    queue.emplace(numbers.to_model(place), std::move(waiter));
  }
  redis.queue = std::move(queue);
  if (redis.offer.stands()) redis.offer.place = numbers.to_model(redis.offer.place);
}

Difference compare_states(const Expected& expected, const backends::redis::Snapshot& seen,
                          Numbers& numbers) {
  if (seen.at != expected.now) return "the inspection was told another time";
  const auto model = essence_of(expected.after, expected.now);
  auto redis = essence_of(seen.state, expected.now);
  const bool in_order = pair_numbers(model, redis, numbers);
  translate(redis, numbers);
  if (in_order && bytes_of(model) == bytes_of(redis)) return std::nullopt;
  return fmt::format("the states differ{}\nmodel:\n{}redis, in the model's numbers:\n{}",
                     in_order ? "" : ", in numbers at least", describe(model, expected.now),
                     describe(redis, expected.now));
}

// Learns what two outcomes of one kind say, and tells Redis' one in the model's numbers.
struct Translation {
  Numbers& numbers;
  bool in_order = true;

  void learn(std::uint64_t model, std::uint64_t& redis) {
    in_order = numbers.pair(model, redis) && in_order;
    redis = numbers.to_model(redis);
  }
  void operator()(const model::Granted& model, model::Granted& redis) {
    learn(model.fence, redis.fence);
  }
  void operator()(const model::Queued& model, model::Queued& redis) {
    learn(model.place, redis.place);
  }
  void operator()(const model::Forced& model, model::Forced& redis) {
    learn(model.fence, redis.fence);
  }
  void operator()(const model::Busy&, model::Busy& redis) { (*this)(redis.holders); }
  void operator()(const model::Seen& model, model::Seen& redis) {
    (*this)(redis.lock.holders);
    if (model.mine && redis.mine) (*this)(*model.mine, *redis.mine);
  }
  void operator()(std::vector<HolderView>& holders) const {
    for (auto& holder : holders) holder.fence = numbers.to_model(holder.fence);
  }
  void operator()(const auto&, const auto&) const {}
};

std::string description_of(const HolderView& holder) {
  return describe(model::Busy{.retry_after = {}, .holder_count = 1, .holders = {holder}});
}

// Each side shows the holders it likes best, if there are too many to show.
Difference compare_crowds(const Expected& expected, model::Busy& redis) {
  auto model = std::get<model::Busy>(expected.outcome);
  constexpr std::size_t most_shown = 4;
  if (redis.holders.size() != most_shown) return "not as many holders as can be shown";
  auto all = model::view({}, expected.after, expected.now).holders;
  for (const HolderView& shown : redis.holders) {
    const auto same = [&](const HolderView& each) {
      return description_of(each) == description_of(shown);
    };
    const auto found = std::ranges::find_if(all, same);
    if (found == all.end()) return "shows a holder that is none: " + description_of(shown);
    all.erase(found);
  }
  model.holders.clear();
  redis.holders.clear();
  return differ("the outcomes differ", describe(model), describe(redis));
}

Difference compare_outcomes(const Expected& expected, model::LockOutcome redis, Numbers& numbers) {
  const auto& model = expected.outcome;
  if (model.index() == redis.index()) {
    Translation translation{numbers};
    std::visit(
        [&]<typename Outcome>(Outcome& theirs) { translation(std::get<Outcome>(model), theirs); },
        redis);
    if (!translation.in_order) return "the numbers in the outcome contradict earlier ones";
    auto* const busy = std::get_if<model::Busy>(&redis);
    if (busy && busy->holder_count > 4) return compare_crowds(expected, *busy);
  }
  return differ("the outcomes differ", describe(model), describe(redis));
}

Difference compare_messages(const Expected& expected, std::vector<model::Message>& redis,
                            Numbers& numbers) {
  const auto& model = expected.messages;
  for (std::size_t i = 0; i < std::min(model.size(), redis.size()); ++i) {
    if (!model[i].grant || !redis[i].grant) continue;
    auto& fence = redis[i].grant->fence;
    if (!numbers.pair(model[i].grant->fence, fence)) return "a message's fence is out of order";
    fence = numbers.to_model(fence);
  }
  return differ("the messages differ", describe(model), describe(redis));
}

}  // namespace

std::optional<std::string> difference(const Expected& expected, StepAnswer answer,
                                      Numbers& numbers) {
  if (!answer.reply) return "the step failed: " + answer.reply.error().message;
  if (!answer.after) return "the inspection failed: " + answer.after.error().message;
  // The shortcuts do not look at the clock.
  const bool told_the_time = answer.reply->at != model::StoreTime{};
  if (told_the_time && answer.reply->at != expected.now) return "the reply tells another time";
  auto& outcome = std::get<model::LockOutcome>(answer.reply->outcome);
  auto states = compare_states(expected, *answer.after, numbers);
  auto outcomes = compare_outcomes(expected, std::move(outcome), numbers);
  auto messages = compare_messages(expected, answer.messages, numbers);
  if (!states && !outcomes && !messages) return std::nullopt;
  return outcomes.value_or("") + messages.value_or("") + states.value_or("");
}

}  // namespace holdfast::test
