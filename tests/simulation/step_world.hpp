// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/command.hpp"
#include "model/step.hpp"
#include "store/store.hpp"

namespace holdfast::simulation {

// What the clock of a simulated server shows at the beginning: November 2026.
inline constexpr std::int64_t epoch_us = 1'794'000'000'000'000;

// The world of one step inside a simulated server. `hears(process)` says whether a message to a
// process would go out.
template <typename Hears>
class StepWorld final : public model::World {
 public:
  StepWorld(model::StoreTime now, std::uint64_t wall_us, model::FenceCounter& fences,
            const Hears& hears)
      : World(now, wall_us, fences), hears_(hears) {}
  bool reachable(model::ProcessId process) override { return hears_(process); }

 private:
  const Hears& hears_;
};

// Gives back a grant that nobody waits for any more.
inline store::Request return_of_grant(const LockName& name, const OwnerId& owner,
                                      model::RequestId request, runtime::LocalTime deadline) {
  return {.name = name,
          .command = model::LockCommand{.spec = {}, .verb = model::Release{owner, request, true}},
          .deadline = deadline};
}

}  // namespace holdfast::simulation
