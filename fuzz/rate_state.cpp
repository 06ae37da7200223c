// SPDX-License-Identifier: Apache-2.0
//
// The stored state of a rate limit: what is read is written as the same bytes, and can be counted
// with.
#include "model/rate_limit.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

using namespace holdfast;
using namespace holdfast::model;

constexpr std::size_t choice_bytes = 4;

std::string bytes_of(const RateState& state) {
  std::string bytes;
  encode(state, bytes);
  return bytes;
}

// Away from the ends of what can be written, where one step may lead beyond them.
bool is_far_from_the_ends(const RateState& state) {
  constexpr Micros far(std::int64_t{1} << 58U);
  const Micros seen = state.seen.time_since_epoch();
  return seen < far && seen > -far && state.ahead < far && state.count < UINT64_MAX / 4;
}

RateCommand command_from(const std::uint8_t* choice, RateAlgorithm algorithm) {
  RateCommand command{.verb = static_cast<RateCommand::Verb>(1 + choice[0] % 3),
                      .rule = {.algorithm = algorithm,
                               .limit = 1U + choice[1] * choice[1] * 15'000U,
                               .window = min_rate_window * (1U + choice[2] * choice[2])},
                      .cost = 1U + choice[3] % 4U};
  const bool is_foreign = algorithm == RateAlgorithm::fixed_window && choice[0] >= 128;
  if (is_foreign) {
    command.rule.layout = RateLayout::n8n;
    command.rule.window = std::chrono::seconds(1U + choice[2]);
  }
  return command;
}

void expect(bool holds) {
  if (!holds) std::abort();
}

void count_with(RateState state, const RateCommand& command) {
  if (!admissible(command)) return;
  const auto before = state;
  const StoreTime now(std::chrono::hours(500'000));
  const auto outcome = step(state, command, now);
  expect(outcome.remaining <= outcome.limit);
  expect(outcome.allowed == (outcome.retry_after == Micros::zero()));
  if (command.verb == RateCommand::Verb::peek) expect(state == before);
  if (!is_far_from_the_ends(before)) return;
  const auto again = decode_rate(bytes_of(state));
  expect(again.has_value() && *again == state);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < choice_bytes) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + choice_bytes, size - choice_bytes);
  const auto state = decode_rate(bytes);
  if (!state) {
    expect(!state.error().message.empty());
    return 0;
  }
  expect(bytes_of(*state) == bytes);
  count_with(*state, command_from(data, state->algorithm));
  return 0;
}
