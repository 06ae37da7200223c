// SPDX-License-Identifier: Apache-2.0
//
// Faults of every kind on every line, and two clients that take turns.
#include "quorum_fixture.hpp"

#include <random>

namespace holdfast::test {
namespace {

class QuorumAtRandom : public QuorumTest {
 public:
  void begin(std::uint64_t seed) {
    random.seed(seed);
    members.clear();
    other_lines.clear();
    known.clear();
    open(5);
    clients = {store, open_again()};
    for (const auto* lines : {&members, &other_lines}) {
      for (const auto& line : *lines) line->decide_by([this](Verb) { return some_fault(); });
    }
    last = 0;
    believed_until = {};
    grants = 0;
  }
  std::uint64_t below(std::uint64_t end) { return random() % end; }
  Fault some_fault() {
    switch (below(30)) {
      case 0: return Fault::refuse();
      case 1: return Fault::lose_request();
      case 2: return Fault::lose_reply();
      case 3: return Fault::delay_request(Micros(below(300'000)));
      case 4: return Fault::delay_reply(Micros(below(300'000)));
      default: return Fault::none();
    }
  }
  std::optional<model::Granted> take(const Ask& ask) {
    store = clients[below(2)];
    auto asking = start(ask);
    for (int step = 0; step < 200 && !asking.done(); ++step) advance(5ms);
    const auto& reply = asking.result();
    const auto* outcome = reply ? std::get_if<model::LockOutcome>(&reply->outcome) : nullptr;
    const auto* grant = outcome ? std::get_if<model::Granted>(outcome) : nullptr;
    return grant ? std::optional(*grant) : std::nullopt;
  }
  // Whatever is granted has a larger fence than all that was granted before, and nobody has it
  // beside another.
  void turn(std::uint64_t round) {
    if (below(8) == 0) raise_fences_at(below(5), last + below(1'000'000));
    const auto owner = "owner-" + std::to_string(round);
    const auto began = now();
    const auto grant = take({.owner = owner, .request = round, .ttl = 2s});
    if (!grant) return advance(Micros(below(500'000)));
    ++grants;
    ASSERT_GE(now(), believed_until);
    ASSERT_GT(grant->fence, last);
    last = grant->fence;
    const auto end = began + grant->remaining * 99 / 100 - 2ms;
    ASSERT_LE(end, began + 2s);
    if (below(2) == 0) {
      start_release(owner, round);
      return advance(400ms);
    }
    believed_until = end;
    advance(Micros(below(2'000'000)));
  }

  std::mt19937_64 random;
  std::vector<StorePtr> clients;
  Fence last = 0;
  LocalTime believed_until{};
  unsigned grants = 0;
};

TEST_F(QuorumAtRandom, fences_grow_and_leases_exclude_each_other) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    begin(seed);
    for (std::uint64_t round = 1; round <= 60; ++round) {
      ASSERT_NO_FATAL_FAILURE(turn(round)) << "seed " << seed << ", round " << round;
    }
    EXPECT_GT(grants, 10U) << "seed " << seed;
    ASSERT_TRUE(runtime->settle()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace holdfast::test
