// SPDX-License-Identifier: Apache-2.0
#include "simulation/quorum/check.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::simulation::quorum {

namespace {

using history::Event;
using history::OpId;
using history::Rule;
using history::Time;
using history::What;

class Check {
 public:
  Check(const history::History& history, const Promises& promises)
      : history_(history),
        promises_(promises),
        grants_(history.attempts.size()),
        names_(history.names.size()) {}

  std::vector<history::Violation> run() {
    for (index_ = 0; index_ < history_.events.size(); ++index_) look_at(history_.events[index_]);
    return std::move(violations_);
  }

 private:
  struct Grant {
    std::uint64_t fence_before = 0;  // the newest that was granted when it asked
    Time believed_until = 0;
  };
  struct Name {
    std::uint64_t newest = 0;
    std::uint64_t newest_exclusive = 0;
    std::vector<OpId> believers;
  };

  Grant& grant(OpId op) { return grants_[op - 1]; }
  Name& name(OpId op) { return names_[history_.attempt(op).name - 1]; }

  void look_at(const Event& event) {
    switch (event.what) {
      case What::asked: grant(event.op).fence_before = name(event.op).newest; break;
      case What::granted:
        if (promises_.fences) check_fence(event);
        believe(event);
        break;
      case What::renewed: believe(event); break;
      case What::releasing:
      case What::lost: disbelieve(event.op); break;
      case What::stopped:
        if (event.until == history::for_ever) forget_process(event.process);
        break;
      default: break;
    }
  }

  bool is_exclusive(OpId op) const { return history_.attempt(op).permits != 1; }
  bool exclude_each_other(OpId one, OpId other) const {
    const bool is_one_lease =
        history_.attempt(one).converts == other || history_.attempt(other).converts == one;
    return one != other && !is_one_lease && (is_exclusive(one) || is_exclusive(other));
  }

  void check_fence(const Event& event) {
    Name& name = this->name(event.op);
    // Readers that have it together are in no order.
    const auto before = is_exclusive(event.op) ? name.newest : name.newest_exclusive;
    if (event.fence <= grant(event.op).fence_before) {
      broken(Rule::fences_grow, event.op, 0,
             fmt::format("fence {} although {} was granted before it asked", event.fence,
                         grant(event.op).fence_before));
    } else if (event.fence <= before && event.at < promises_.exclusive_until) {
      broken(Rule::fences_grow, event.op, 0, fmt::format("fence {} after {}", event.fence, before));
    }
    name.newest = std::max(name.newest, event.fence);
    if (is_exclusive(event.op))
      name.newest_exclusive = std::max(name.newest_exclusive, event.fence);
  }

  void believe(const Event& event) {
    Name& name = this->name(event.op);
    for (const OpId other : name.believers) {
      if (!exclude_each_other(event.op, other)) continue;
      if (grant(other).believed_until <= event.at) continue;
      if (event.at >= promises_.exclusive_until) continue;
      broken(Rule::no_overlap, event.op, other,
             fmt::format("#{} believes in it until {:.6f} s", other,
                         static_cast<double>(grant(other).believed_until) / 1e9));
    }
    grant(event.op).believed_until = event.until;
    if (std::ranges::find(name.believers, event.op) == name.believers.end()) {
      name.believers.push_back(event.op);
    }
  }

  void disbelieve(OpId op) { std::erase(name(op).believers, op); }

  void forget_process(history::ProcessId process) {
    for (Name& name : names_) {
      std::erase_if(name.believers,
                    [&](OpId op) { return history_.attempt(op).process == process; });
    }
  }

  void broken(Rule rule, OpId op, OpId other, std::string why) {
    violations_.push_back(
        {.rule = rule, .event = index_, .op = op, .other = other, .why = std::move(why)});
  }

  const history::History& history_;
  const Promises promises_;
  std::vector<Grant> grants_;
  std::vector<Name> names_;
  std::size_t index_ = 0;
  std::vector<history::Violation> violations_;
};

}  // namespace

std::vector<history::Violation> check(const history::History& history, const Promises& promises) {
  return Check(history, promises).run();
}

}  // namespace holdfast::simulation::quorum
