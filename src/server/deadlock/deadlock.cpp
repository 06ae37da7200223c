// SPDX-License-Identifier: Apache-2.0
#include "server/deadlock/deadlock.hpp"

#include "server/deadlock/components.hpp"
#include "server/deadlock/wait_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace holdfast::server {
namespace {

// Vertices are the nodes, then the waits, then the barriers; only those that are stuck have arrows.
std::vector<std::vector<std::size_t>> arrows_of(const WaitGraph& graph) {
  const auto waits_at = graph.nodes.size();
  const auto barriers_at = waits_at + graph.waits.size();
  std::vector<std::vector<std::size_t>> arrows(barriers_at + graph.barriers.size());
  for (std::size_t w = 0; w < graph.waits.size(); ++w) {
    const auto& wait = graph.waits[w];
    if (wait.served) continue;
    if (wait.node != nobody) arrows[wait.node].push_back(waits_at + w);
    if (!wait.passed) arrows[waits_at + w].push_back(barriers_at + wait.barrier);
    for (const auto ahead : wait.behind) {
      if (!graph.waits[ahead].served) arrows[waits_at + w].push_back(waits_at + ahead);
    }
  }
  for (std::size_t b = 0; b < graph.barriers.size(); ++b) {
    for (const auto hold : graph.barriers[b].holds) {
      const auto node = graph.holds[hold].node;
      if (!graph.nodes[node].goes_on) arrows[barriers_at + b].push_back(node);
    }
  }
  return arrows;
}

// FNV-1a: it only has to be the same everywhere and for ever.
class Hash {
 public:
  void mix(std::string_view text) {
    for (const char c : text) add(static_cast<unsigned char>(c));
    add(0);
  }
  std::string text() const { return fmt::format("{:016x}", value_); }

 private:
  void add(unsigned char byte) { value_ = (value_ ^ byte) * 1099511628211U; }
  std::uint64_t value_ = 14695981039346656037U;
};

class Describer {
 public:
  Describer(const std::vector<LockView>& locks, const WaitGraph& graph, WallTime now)
      : locks_(locks), graph_(graph), now_(now) {}

  Deadlock describe(const std::vector<std::size_t>& component) const {
    Deadlock deadlock;
    std::set<std::size_t> taking_part;
    for (const auto w : waits_of(component)) taking_part.insert(graph_.waits[w].lock);
    for (const auto w : waits_of(component)) {
      const auto& wait = graph_.waits[w];
      if (wait.node == nobody) continue;
      deadlock.members.push_back({.node = graph_.nodes[wait.node].text,
                                  .holds = held(wait.node, taking_part),
                                  .waits_for = locks_[wait.lock].name,
                                  .waiting_for = wait.view->waiting_for,
                                  .party = wait.view->party});
    }
    finish(deadlock);
    return deadlock;
  }

  std::size_t nodes_in(const std::vector<std::size_t>& component) const {
    std::set<std::size_t> nodes;
    for (const auto w : waits_of(component)) nodes.insert(graph_.waits[w].node);
    nodes.erase(nobody);
    return nodes.size();
  }

 private:
  std::vector<std::size_t> waits_of(const std::vector<std::size_t>& component) const {
    const auto begin = graph_.nodes.size();
    std::vector<std::size_t> waits;
    for (const auto vertex : component) {
      if (vertex >= begin && vertex < begin + graph_.waits.size()) waits.push_back(vertex - begin);
    }
    return waits;
  }

  std::vector<std::string> held(std::size_t node, const std::set<std::size_t>& taking_part) const {
    std::set<std::string> names;
    for (const auto hold : graph_.nodes[node].holds) {
      const auto lock = graph_.holds[hold].barrier_all / 2;
      if (taking_part.contains(lock)) names.insert(locks_[lock].name);
    }
    return {names.begin(), names.end()};
  }

  void finish(Deadlock& deadlock) const {
    std::ranges::sort(deadlock.members, {}, [](const DeadlockMember& member) {
      return std::tie(member.node, member.waits_for, member.party);
    });
    Hash hash;
    for (const auto& member : deadlock.members) {
      hash.mix(member.node);
      hash.mix(member.waits_for);
      for (const auto& name : member.holds) hash.mix(name);
    }
    deadlock.id = hash.text();
    const auto youngest =
        std::ranges::min_element(deadlock.members, {}, &DeadlockMember::waiting_for);
    deadlock.victim = static_cast<std::size_t>(youngest - deadlock.members.begin());
    deadlock.since = now_ - youngest->waiting_for;
  }

  const std::vector<LockView>& locks_;
  const WaitGraph& graph_;
  const WallTime now_;
};

}  // namespace

std::vector<Deadlock> find_deadlocks(const std::vector<LockView>& locks, WallTime now) {
  const auto graph = reduced_graph(locks);
  const bool all_go_on = std::ranges::all_of(graph.nodes, &WaitGraph::Node::goes_on);
  if (all_go_on) return {};
  const Describer describer(locks, graph, now);
  std::vector<Deadlock> found;
  for (const auto& component : cyclic_components(arrows_of(graph))) {
    // Threads of one process that wait for each other are its own affair.
    if (describer.nodes_in(component) > 1) found.push_back(describer.describe(component));
  }
  std::ranges::sort(found, {}, &Deadlock::id);
  return found;
}

}  // namespace holdfast::server
