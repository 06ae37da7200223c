// SPDX-License-Identifier: Apache-2.0
#include "simulation/quorum/plan.hpp"

#include <algorithm>
#include <string>

namespace holdfast::simulation::quorum {

namespace {

constexpr Time furthest_off = 5 * second;
constexpr std::int64_t usually_fastest_ppm = 5'000;

// Odd seeds have three members and even ones five, now and then four: a tie is no majority.
std::size_t members_of(std::uint64_t seed) {
  if (seed % 2 == 1) return 3;
  return seed % 16 == 0 ? 4 : 5;
}

std::vector<MemberClock> some_clocks(std::size_t members, Time off, std::int64_t fastest_ppm,
                                     Dice& dice) {
  std::vector<MemberClock> clocks;
  for (std::size_t i = 0; i < members; ++i) {
    clocks.push_back({dice.between(-off, off), dice.between(-fastest_ppm, fastest_ppm)});
  }
  return clocks;
}

// As long as the longest lease, which has ended then; and as one member's clock is behind
// another's: what a forgetful member counts from then on is above every fence of before.
Time enough_grace(const Plan& plan) {
  const auto [least, most] = std::ranges::minmax(plan.clocks, {}, &MemberClock::ahead);
  const Time drift = 2 * plan.longest / 1'000'000 * 2 * plan.fastest_ppm;
  return std::max(plan.ttl, most.ahead - least.ahead + drift + 20 * millisecond);
}

std::uint32_t sometimes(Dice& dice, std::uint32_t likely, std::uint32_t unlikely) {
  if (!dice.one_in(2)) return 0;
  return static_cast<std::uint32_t>(dice.between(likely, unlikely));
}

Faults some_faults(Dice& dice) {
  Faults faults;
  if (dice.one_in(20)) return faults;
  faults.lose = sometimes(dice, 10, 200);
  faults.slow = sometimes(dice, 20, 60);
  faults.duplicate = sometimes(dice, 10, 100);
  faults.cut_at_vote = sometimes(dice, 100, 600);
  faults.reconnect = sometimes(dice, 1, 4);
  faults.stop = sometimes(dice, 100, 2000);
  faults.cancel = sometimes(dice, 3, 20);
  faults.crash = sometimes(dice, 4, 20);
  faults.cut = sometimes(dice, 1, 4);
  faults.reset = sometimes(dice, 2, 8);
  faults.restart = sometimes(dice, 4, 20);
  faults.roll = sometimes(dice, 4, 12);
  faults.bend_clock = sometimes(dice, 1, 6);
  faults.join = sometimes(dice, 3, 12);
  if (dice.one_in(3)) faults.force = static_cast<std::uint32_t>(dice.between(4, 20));
  return faults;
}

// Nothing goes wrong but that the members are restarted one by one: no lease may be lost.
Faults maintenance(Dice& dice) {
  Faults faults;
  faults.roll = 1;
  faults.duplicate = sometimes(dice, 10, 100);
  faults.join = 4;
  return faults;
}

model::LockSpec some_spec(Dice& dice) {
  switch (dice.below(6)) {
    case 0:
    case 1: return model::LockSpec::read_write();
    case 2: return model::LockSpec::reentrant();
    case 3: return model::LockSpec::election();
    default: return model::LockSpec::mutex();
  }
}

// Members that only some can reach, and clients that never met them before they forgot.
void worst_faults(Faults& faults) {
  faults.cut = 1;
  faults.crash = 3;
  faults.amnesia = 2;
}

void forget_sometimes(Plan& plan, Hole hole, Dice& dice) {
  plan.members_keep_memory = false;
  plan.faults.restart = 0;
  plan.faults.amnesia = static_cast<std::uint32_t>(dice.between(3, 12));
  plan.options.grace = hole == Hole::none ? micros(enough_grace(plan)) + Micros(1) : Micros::zero();
  if (hole != Hole::none) worst_faults(plan.faults);
}

backends::quorum::Options some_options(Dice& dice) {
  backends::quorum::Options options;
  if (dice.one_in(4)) options.drift = 0.05;
  options.timeout = Micros(dice.between(30'000, 200'000));
  options.retry_delay = Micros(dice.between(10'000, 200'000));
  options.retry_jitter = Micros(dice.between(0, options.retry_delay.count()));
  options.retries = static_cast<std::uint32_t>(dice.between(0, 3));
  options.fences = !dice.one_in(8);
  return options;
}

}  // namespace

Plan make_plan(std::uint64_t seed, Hole hole, Dice& dice) {
  Plan plan{.options = some_options(dice),
            .ttl = dice.between(300, 4000) * millisecond,
            .clients = static_cast<unsigned>(dice.between(2, 4)),
            .workers = dice.one_in(4) ? 2U : 1U,
            .enough_grants = 30,
            .latency = dice.between(50, 2000) * microsecond,
            .faults = some_faults(dice)};
  plan.shortest_ttl = dice.one_in(2) ? plan.ttl : std::max(plan.ttl / 16, 100 * millisecond);
  plan.longest = std::clamp(5 * plan.ttl, 5 * second, 15 * second);
  const bool forgets = hole != Hole::none || dice.one_in(3);
  plan.fastest_ppm = usually_fastest_ppm;
  if (!forgets && dice.one_in(2)) {
    plan.fastest_ppm = static_cast<std::int64_t>(plan.options.drift * 900'000);
  }
  const Time off = hole == Hole::none ? dice.mostly_short(furthest_off) : furthest_off;
  plan.clocks = some_clocks(members_of(seed), off, plan.fastest_ppm, dice);
  const std::size_t locks = dice.below(4) == 0 ? 1 : 1 + dice.below(3);
  for (std::size_t i = 0; i < locks; ++i) {
    plan.names.push_back(LockName::make("lock" + std::to_string(i + 1)).value());
    plan.specs.push_back(some_spec(dice));
  }
  if (forgets) {
    forget_sometimes(plan, hole, dice);
  } else if (dice.one_in(4)) {
    plan.faults.step_clock = static_cast<std::uint32_t>(dice.between(3, 12));
  } else if (dice.one_in(4)) {
    plan.faults = maintenance(dice);
  }
  return plan;
}

}  // namespace holdfast::simulation::quorum
