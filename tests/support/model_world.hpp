// SPDX-License-Identifier: Apache-2.0
//
// One lock of the model with everything around it moved by hand: the clocks, the fence counter and
// which processes can be reached. Invariants are checked after every step.
#pragma once

#include "model/admission.hpp"
#include "model/invariants.hpp"
#include "model/step.hpp"
#include "support/ask.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::test {

class HandWorld final : public model::World {
 public:
  HandWorld(model::StoreTime now, std::uint64_t wall_us, model::FenceCounter& fences,
            const std::set<std::uint64_t>& cut_off)
      : World(now, wall_us, fences), cut_off_(cut_off) {}

  bool reachable(model::ProcessId process) override {
    return !cut_off_.contains(static_cast<std::uint64_t>(process));
  }

 private:
  const std::set<std::uint64_t>& cut_off_;
};

class ModelLock {
 public:
  explicit ModelLock(model::LockSpec spec) : spec_(spec) {}

  model::LockOutcome acquire(const Ask& ask) { return acquire_as(spec_, ask); }
  model::LockOutcome acquire_as(model::LockSpec spec, const Ask& ask) {
    return apply({spec, to_command(spec.kind, ask)});
  }
  model::LockOutcome renew(std::string_view owner, std::uint64_t request = 1, Micros ttl = 10s) {
    return apply({spec_, model::Renew{owner_named(owner), model::RequestId{request}, ttl}});
  }
  model::LockOutcome agree(std::string_view owner, Fence fence, std::uint64_t request = 1,
                           Micros ttl = 20ms) {
    return apply({spec_, model::Renew{owner_named(owner), model::RequestId{request}, ttl, fence}});
  }
  model::LockOutcome release(std::string_view owner, std::uint64_t request = 1) {
    return apply({spec_, model::Release{owner_named(owner), model::RequestId{request}}});
  }
  model::LockOutcome release_up_to(std::string_view owner, Fence fence) {
    return apply({spec_, model::Release{.owner = owner_named(owner), .up_to = fence}});
  }
  model::LockOutcome force_release() { return apply({spec_, model::ForceRelease{}}); }
  model::LockOutcome inspect() { return apply({spec_, model::Inspect{}}); }
  model::LockOutcome inspect(std::string_view owner) {
    return apply({spec_, model::Inspect{owner_named(owner)}});
  }

  model::LockOutcome apply(const model::LockCommand& command) {
    const auto admitted = model::admissible(command);
    EXPECT_TRUE(admitted.has_value()) << admitted.error().message;
    HandWorld world(now, wall_us, fences, cut_off);
    auto outcome = model::step(state, command, world);
    messages = std::move(world.messages);
    if (!std::holds_alternative<model::Inspect>(command.verb)) {
      EXPECT_EQ(model::violated_invariant(state, now).value_or("none"), "none");
    }
    return outcome;
  }

  void pass(Micros time) {
    now += time;
    wall_us += static_cast<std::uint64_t>(time.count());
  }
  LockView seen() const { return model::view("lock", state, now); }

  model::LockState state;
  model::StoreTime now{1'000'000s};
  std::uint64_t wall_us = 1'700'000'000'000'000;
  model::FenceCounter fences;
  std::set<std::uint64_t> cut_off;       // processes that no message reaches
  std::vector<model::Message> messages;  // of the last step

 private:
  model::LockSpec spec_;
};

// Who was told, in the order of the messages: "ben+" with a grant, "ben" with a hint.
inline std::vector<std::string> told(const ModelLock& lock) {
  std::vector<std::string> owners;
  for (const auto& message : lock.messages) {
    owners.push_back(message.owner.str() + (message.grant ? "+" : ""));
  }
  return owners;
}

inline std::vector<std::string> holders(const ModelLock& lock) {
  std::vector<std::string> owners;
  for (const auto& hold : lock.state.holds) {
    if (hold.expires > lock.now) owners.push_back(hold.owner.str());
  }
  return owners;
}

inline std::vector<std::string> waiters(const ModelLock& lock) {
  std::vector<std::string> owners;
  for (const auto& [place, waiter] : lock.state.queue) owners.push_back(waiter.owner.str());
  return owners;
}

using Owners = std::vector<std::string>;

}  // namespace holdfast::test
