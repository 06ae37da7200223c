// SPDX-License-Identifier: Apache-2.0
#include "simulation/environment.hpp"

#include "http_world.hpp"
#include "simulation/network.hpp"
#include "simulation/servers/servers.hpp"

namespace holdfast::simulation {

namespace {

constexpr Faults nothing_goes_wrong;

}  // namespace

void Environment::stop(history::ProcessId number, Time until) {
  Process& stopped = process(number);
  if (until <= stopped.stopped_until()) return;
  recorder_.fault(What::stopped, number, until);
  stopped.stop_until(until);
}

void Environment::end_faults() { faults_ = &nothing_goes_wrong; }

void Environment::note_clock_step(Time by) {
  recorder_.fault(What::clock_stepped, 0).number = by;
  if (by < 0) set_back_ -= by;
}

std::unique_ptr<Environment> make_environment(const Time& now, const Plan& plan, Dice& dice,
                                              Recorder& recorder) {
  if (plan.http.fronts > 0) return make_http_environment(now, plan, dice, recorder);
  if (plan.servers.count > 0) return std::make_unique<Servers>(now, plan, dice, recorder);
  return std::make_unique<Network>(now, plan, dice, recorder);
}

}  // namespace holdfast::simulation
