// SPDX-License-Identifier: Apache-2.0
//
// How many bad days per second the simulator gets through on one core, and what a day has in it.
#include "simulation/quiet.hpp"
#include "simulation/run.hpp"
#include "support/bars.hpp"

#include <fmt/format.h>

#include <ctime>
#include <vector>

namespace holdfast::bench {
namespace {

constexpr std::size_t repeats = 3;
constexpr std::uint64_t seeds = 3000;

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

double per_seed(std::uint64_t count, const simulation::Summary& sum) {
  return static_cast<double>(count) / static_cast<double>(sum.seeds);
}

void measure() {
  std::vector<double> rates;
  simulation::Summary sum;
  for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
    const double begin = processor_seconds();
    sum = simulation::run_seeds(1 + repeat * seeds, seeds);
    rates.push_back(static_cast<double>(seeds) / (processor_seconds() - begin));
    if (sum.violations != 0) give_up("a promise was broken: run make simulate");
  }
  print_row("bad days", rates, "seeds/s", "one core, by its processor time");
  print_note(
      fmt::format("in a seed: {:.0f} grants, {:.0f} hand-overs, {:.0f} faults, {:.0f} events",
                  per_seed(sum.grants, sum), per_seed(sum.hand_overs, sum),
                  per_seed(sum.faults, sum), per_seed(sum.events, sum)));
  bar_at_least("simulation.seeds_per_s", median(rates), 1000);
  bar_at_least("simulation.grants_per_seed", per_seed(sum.grants, sum), 100);
  bar_at_least("simulation.hand_overs_per_seed", per_seed(sum.hand_overs, sum), 20);
  bar_at_least("simulation.faults_per_seed", per_seed(sum.faults, sum), 10);
}

}  // namespace
}  // namespace holdfast::bench

int main() {
  holdfast::simulation::keep_clients_quiet();
  holdfast::bench::measure();
}
