// SPDX-License-Identifier: Apache-2.0
#include "server/deadlock/wait_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>

namespace holdfast::server {
namespace {

// "web-1:4711"; two processes that had the same pid are told apart by their start.
template <typename View>
std::pair<std::string, std::string> key_and_text(const View& view) {
  if (view.metadata && view.metadata->process) {
    const auto& process = *view.metadata->process;
    if (process.pid != 0) {
      auto text = fmt::format("{}:{}", process.host, process.pid);
      return {fmt::format("{}:{}", text, process.started_ms), text};
    }
  }
  if (view.party == 0) return {};
  auto text = fmt::format("party {:016x}", view.party);
  return {text, text};
}

class Builder {
 public:
  void add(const LockView& lock, std::size_t index) {
    own_.clear();
    const auto all = graph_.barriers.size();
    graph_.barriers.resize(all + 2);
    for (const auto& holder : lock.holders) add_hold(lock, holder, all);
    std::size_t gate = nobody;
    std::size_t ahead = nobody;
    for (const auto& waiter : lock.waiters) {
      const auto wait = add_wait(lock, waiter, all);
      graph_.waits[wait].lock = index;
      const bool in_line = lock.kind == Kind::semaphore && lock.order != Order::barging;
      if (in_line) stand_behind(wait, ahead);
      const bool shared = lock.kind == Kind::read_write && waiter.permits != all_permits;
      if (shared) stand_behind(wait, gate);
      const bool writes = lock.kind == Kind::read_write && !shared;
      if (writes) gate = add_gate(index, gate, wait);
      ahead = wait;
    }
    for (const auto barrier : {all, all + 1}) {
      const auto content = [this](std::size_t w) { return graph_.waits[w].content; };
      std::ranges::sort(graph_.barriers[barrier].waits, std::greater<>(), content);
    }
  }

  WaitGraph graph() && { return std::move(graph_); }

 private:
  struct Own {
    std::uint64_t all = 0;
    std::uint64_t exclusive = 0;
  };

  template <typename View>
  std::size_t node_of(const View& view) {
    auto [key, text] = key_and_text(view);
    if (key.empty()) return nobody;
    const auto [found, is_new] = nodes_.try_emplace(std::move(key), graph_.nodes.size());
    if (is_new) graph_.nodes.push_back({.text = std::move(text), .waits = {}, .holds = {}});
    return found->second;
  }

  void add_hold(const LockView& lock, const HolderView& holder, std::size_t all) {
    const auto node = node_of(holder);
    if (node == nobody) return;
    const bool counts_permits = lock.kind == Kind::semaphore;
    const auto weight = counts_permits ? std::uint64_t{holder.permits} : 1;
    // Of a read-write lock only; in the others a shared wait asks for everything there is.
    const bool exclusive = holder.permits == all_permits;
    const auto hold = graph_.holds.size();
    graph_.holds.push_back({.node = node,
                            .barrier_all = all,
                            .barrier_exclusive = exclusive ? all + 1 : nobody,
                            .weight = weight});
    graph_.nodes[node].holds.push_back(hold);
    block(all, hold);
    own_[node].all += weight;
    if (!exclusive) return;
    block(all + 1, hold);
    own_[node].exclusive += weight;
  }

  void block(std::size_t barrier, std::size_t hold) {
    graph_.barriers[barrier].weight += graph_.holds[hold].weight;
    graph_.barriers[barrier].holds.push_back(hold);
  }

  std::size_t add_wait(const LockView& lock, const WaiterView& waiter, std::size_t all) {
    const auto node = node_of(waiter);
    const auto own = own_.find(node);
    const auto mine = own == own_.end() ? Own{} : own->second;
    const bool shared = lock.kind == Kind::read_write && waiter.permits != all_permits;
    WaitGraph::Wait wait{.node = node, .view = &waiter, .barrier = shared ? all + 1 : all};
    wait.content = shared ? mine.exclusive : mine.all;
    if (lock.kind == Kind::semaphore && lock.capacity > waiter.permits) {
      wait.content += lock.capacity - waiter.permits;
    }
    const auto index = graph_.waits.size();
    graph_.waits.push_back(std::move(wait));
    graph_.barriers[graph_.waits[index].barrier].waits.push_back(index);
    if (node != nobody) {
      graph_.nodes[node].waits.push_back(index);
      ++graph_.nodes[node].unserved;
    }
    return index;
  }

  std::size_t add_gate(std::size_t lock, std::size_t before, std::size_t wait) {
    const auto gate = graph_.waits.size();
    graph_.waits.push_back({.lock = lock, .passed = true});
    stand_behind(gate, before);
    stand_behind(gate, wait);
    return gate;
  }

  void stand_behind(std::size_t wait, std::size_t ahead) {
    if (ahead == nobody) return;
    graph_.waits[wait].behind.push_back(ahead);
    graph_.waits[ahead].followers.push_back(wait);
  }

  WaitGraph graph_;
  std::unordered_map<std::string, std::size_t> nodes_;
  std::unordered_map<std::size_t, Own> own_;  // at the lock that is being added
};

class Reduction {
 public:
  explicit Reduction(WaitGraph& graph) : graph_(graph) {}

  void run() {
    for (std::size_t b = 0; b < graph_.barriers.size(); ++b) let_pass(graph_.barriers[b]);
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (graph_.nodes[n].waits.empty()) let_go_on(n);
    }
    while (!going_on_.empty()) {
      const auto node = going_on_.back();
      going_on_.pop_back();
      for (const auto hold : graph_.nodes[node].holds) release(graph_.holds[hold]);
    }
  }

 private:
  void let_go_on(std::size_t node) {
    if (std::exchange(graph_.nodes[node].goes_on, true)) return;
    going_on_.push_back(node);
  }

  void release(const WaitGraph::Hold& hold) {
    for (const auto barrier : {hold.barrier_all, hold.barrier_exclusive}) {
      if (barrier == nobody) continue;
      graph_.barriers[barrier].weight -= hold.weight;
      let_pass(graph_.barriers[barrier]);
    }
  }

  void let_pass(WaitGraph::Barrier& barrier) {
    for (; barrier.passed < barrier.waits.size(); ++barrier.passed) {
      const auto wait = barrier.waits[barrier.passed];
      if (graph_.waits[wait].content < barrier.weight) return;
      graph_.waits[wait].passed = true;
      serve(wait);
    }
  }

  void serve(std::size_t first) {
    std::vector<std::size_t> next{first};
    while (!next.empty()) {
      const auto index = next.back();
      next.pop_back();
      auto& wait = graph_.waits[index];
      const bool is_next = std::ranges::all_of(
          wait.behind, [this](std::size_t ahead) { return graph_.waits[ahead].served; });
      if (!wait.passed || !is_next || std::exchange(wait.served, true)) continue;
      next.insert(next.end(), wait.followers.begin(), wait.followers.end());
      if (wait.node != nobody && --graph_.nodes[wait.node].unserved == 0) let_go_on(wait.node);
    }
  }

  WaitGraph& graph_;
  std::vector<std::size_t> going_on_;
};

}  // namespace

WaitGraph reduced_graph(const std::vector<LockView>& locks) {
  Builder builder;
  for (std::size_t i = 0; i < locks.size(); ++i) builder.add(locks[i], i);
  auto graph = std::move(builder).graph();
  Reduction(graph).run();
  return graph;
}

}  // namespace holdfast::server
