// SPDX-License-Identifier: Apache-2.0
//
// A second opinion on the step. It never looks at how a step works: it keeps the leases that the
// answers and messages promised, and says when they cannot all be true.
#pragma once

#include "model/step.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

struct Happening {
  const model::LockCommand& command;
  const model::LockOutcome& outcome;
  const std::vector<model::Message>& messages;
  model::StoreTime now{};
  const model::LockState& after;
};

// In these walks the metadata of an owner always names the same source: that of every other one.
inline std::string source_of(std::string_view owner) {
  return (owner.back() - '0') % 2 == 0 ? "even" : "odd";
}

class Oracle {
 public:
  explicit Oracle(model::LockSpec spec) : spec_(spec) {}

  // What cannot be, in a sentence; nothing if all is well. Throws nothing, remembers everything.
  std::optional<std::string> judge(const Happening& happening);

 private:
  using Attempt = std::pair<std::string, model::RequestId>;
  using Verdict = std::optional<std::string>;
  struct Lease {
    std::uint32_t permits = 0;
    Fence fence = 0;
    model::StoreTime expires{};
    bool claimed = false;
  };
  struct Wait {
    std::uint64_t place = 0;
    model::Acquire wanted;
  };

  Verdict judge_outcome(const Happening& happening);
  Verdict answered(const model::Acquire& wanted, const Happening& happening);
  Verdict answered(const model::Renew& wanted, const Happening& happening);
  Verdict answered(const model::Release& wanted, const Happening& happening);
  Verdict answered(const model::ForceRelease& wanted, const Happening& happening);
  Verdict answered(const model::Inspect& wanted, const Happening& happening);
  Verdict entered(const model::Acquire& wanted, const model::Granted& grant, const Happening& at);
  Verdict converted(const model::Acquire& wanted, const model::Granted& grant, const Happening& at);
  Verdict told(const model::Message& message, const Happening& at);
  Verdict told_of_upgrade(const Wait& wait, const model::Message& message, const Happening& at);
  Verdict overtook(std::uint64_t place, const Happening& at) const;
  Verdict minted(const std::string& owner, Fence fence);
  Verdict not_mine(const model::LockOutcome& outcome, bool is_mine) const;
  Verdict fits() const;
  Verdict agrees_with(const model::LockState& state) const;
  bool holds(const OwnerId& owner, model::RequestId request) const;

  model::LockSpec spec_;
  std::map<Attempt, Lease> leases_;
  std::map<Attempt, Wait> waits_;  // also those that the store dropped without a word
  Fence highest_ = 0;              // of all steps before
  std::vector<Fence> fresh_;       // minted in this step
};

}  // namespace holdfast::test
