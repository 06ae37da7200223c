// SPDX-License-Identifier: Apache-2.0
//
// The stored record of a run: what is read is written as the same bytes, and every command leaves
// something that can be read again.
#include "model/fence_counter.hpp"
#include "model/idempotency.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

using namespace holdfast;
using namespace holdfast::model;

constexpr std::size_t choice_bytes = 2;

class FuzzWorld final : public World {
 public:
  using World::World;
  bool reachable(ProcessId) override { return true; }
};

std::string bytes_of(const RunState& state) {
  std::string bytes;
  encode(state, bytes);
  return bytes;
}

void expect(bool holds) {
  if (!holds) std::abort();
}

RunCommand command_from(const std::uint8_t* choice, const RunState& state) {
  const bool is_owner = choice[1] % 2 == 0 && OwnerId::make(state.owner).has_value();
  return {.verb = static_cast<RunCommand::Verb>(1 + choice[0] % 7),
          .owner = is_owner ? state.owner : "somebody",
          .fingerprint = choice[1] % 3 == 0 ? "f" : "",
          .guard = min_guard * (1 + choice[1]),
          .keep = min_answer_ttl * (1 + choice[1]),
          .takes_over = choice[0] < 128,
          .answer = {.status = 201, .headers = {}, .body = "done"},
          .failure = "why"};
}

// Away from the ends of what can be written, where one step may lead beyond them.
bool is_far_from_the_ends(const RunState& state) {
  constexpr Micros far(std::int64_t{1} << 58U);
  const auto fits = [far](Micros time) { return time < far && time > -far; };
  return fits(state.guarded_until.time_since_epoch()) && fits(state.expires.time_since_epoch());
}

void run_with(RunState state, const RunCommand& command) {
  if (!is_far_from_the_ends(state) || !admissible(command)) return;
  const auto before = state;
  FenceCounter fences(before.fence / 2);
  FuzzWorld world(before.guarded_until + Micros(command.guard.count() - 1'000'000), 1, fences);
  const auto outcome = step(state, command, world);
  expect(outcome.remaining >= Micros::zero());
  const bool is_a_look = command.verb == RunCommand::Verb::look;
  expect(!(is_a_look && outcome.done));
  if (is_a_look && !forgettable(before, world.now())) expect(state == before);
  if (state.status == RunState::Status::none) return;
  const auto again = decode_run(bytes_of(state));
  expect(again.has_value() && *again == state);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < choice_bytes) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + choice_bytes, size - choice_bytes);
  const auto state = decode_run(bytes);
  if (!state) {
    expect(!state.error().message.empty());
    return 0;
  }
  expect(bytes_of(*state) == bytes);
  run_with(*state, command_from(data, *state));
  return 0;
}
