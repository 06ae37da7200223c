// SPDX-License-Identifier: Apache-2.0
#include "simulation/quorum/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

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
    std::uint64_t forced = 0;      // the fence of the last forced release
    OpId may_have_been_ended = 0;  // by force, and all that asked before it
    std::vector<OpId> believers;
  };

  Grant& grant(OpId op) { return grants_[op - 1]; }
  Name& name(OpId op) { return names_[history_.attempt(op).name - 1]; }

  void look_at(const Event& event) {
    switch (event.what) {
      case What::asked:
        last_asked_ = event.op;
        grant(event.op).fence_before = std::max(name(event.op).newest, name(event.op).forced);
        break;
      case What::forced: force(names_[event.name - 1], event.fence); break;
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

  // Whoever asked before is told by the next member that it meets, and no sooner.
  void force(Name& name, std::uint64_t fence) {
    name.may_have_been_ended = last_asked_;
    name.forced = std::max(name.forced, fence);
  }
  bool may_have_been_ended(OpId op) { return op <= name(op).may_have_been_ended; }

  // Re-entries share the fence of their owner; an upgraded lease has the owner of the shared one.
  OpId owner_of(OpId op) const {
    const OpId owner = history_.attempt(op).owner;
    return owner != 0 ? owner : op;
  }
  // Over all names.
  bool is_unique(const Event& event) {
    const auto [first, is_new] = first_with_.try_emplace(event.fence, event.op);
    if (is_new || owner_of(first->second) == owner_of(event.op)) return true;
    broken(Rule::fences_grow, event.op, first->second,
           fmt::format("fence {} is that of #{} too", event.fence, first->second));
    return false;
  }
  // The newest one is its own, of the lease that it entered again.
  bool is_re_entry(const Event& event, std::uint64_t newest) {
    if (!history_.attempt(event.op).reentrant) return false;
    if (event.fence != newest && !may_have_been_ended(event.op)) return false;
    const auto found = first_with_.find(event.fence);
    return found != first_with_.end() && found->second != event.op &&
           owner_of(found->second) == owner_of(event.op);
  }

  bool is_exclusive(OpId op) const { return history_.attempt(op).permits != 1; }
  bool exclude_each_other(OpId one, OpId other) const {
    const bool is_one_lease = history_.attempt(one).converts == other ||
                              history_.attempt(other).converts == one ||
                              (history_.attempt(one).reentrant && owner_of(one) == owner_of(other));
    return one != other && !is_one_lease && (is_exclusive(one) || is_exclusive(other));
  }

  void check_fence(const Event& event) {
    Name& name = this->name(event.op);
    // Readers that have it together are in no order.
    const auto before = is_exclusive(event.op) ? name.newest : name.newest_exclusive;
    if (!is_unique(event) || is_re_entry(event, name.newest)) return;
    if (event.fence <= grant(event.op).fence_before) {
      broken(Rule::fences_grow, event.op, 0,
             fmt::format("fence {} although {} was granted before it asked", event.fence,
                         grant(event.op).fence_before));
    } else if (event.fence <= before && event.at < promises_.exclusive_until &&
               !may_have_been_ended(event.op)) {
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
      if (may_have_been_ended(event.op) || may_have_been_ended(other)) continue;
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
  std::unordered_map<std::uint64_t, OpId> first_with_;  // by fence
  OpId last_asked_ = 0;
  std::size_t index_ = 0;
  std::vector<history::Violation> violations_;
};

}  // namespace

std::vector<history::Violation> check(const history::History& history, const Promises& promises) {
  return Check(history, promises).run();
}

}  // namespace holdfast::simulation::quorum
