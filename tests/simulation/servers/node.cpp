// SPDX-License-Identifier: Apache-2.0
#include "simulation/servers/node.hpp"

#include "simulation/line.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::simulation {

bool Node::hears(model::ProcessId address) const {
  return has_subscriber(Line::process_of(address));
}

bool Node::has_subscriber(history::ProcessId process) const {
  return std::ranges::find(subscribers, process, &Subscriber::process) != subscribers.end();
}

void Node::unsubscribe(Subscriber gone) {
  std::erase_if(subscribers, [&](const Subscriber& each) {
    return each.process == gone.process && each.connection == gone.connection;
  });
}

void Node::unsubscribe_all(history::ProcessId process) {
  std::erase_if(subscribers, [&](const Subscriber& each) { return each.process == process; });
}

Time Node::expect(std::shared_ptr<const Change> change, Time arrives) {
  incoming_.push_back({std::max(arrives, last_arrival()), std::move(change)});
  return last_arrival();
}

std::vector<Told> Node::catch_up(Time when) {
  std::vector<Told> told;
  while (!incoming_.empty() && incoming_.front().arrives <= when) {
    auto change = std::move(incoming_.front().change);
    incoming_.pop_front();
    for (const model::Message& message : change->messages) told.push_back({change->lock, message});
    last_fence_ = change->fence;
    taken_in_[change->lock] = std::move(change);
  }
  return told;
}

void Node::settle() {
  for (auto& change : taken_in_) {
    if (const auto latest = std::exchange(change, nullptr)) {
      data.follow(latest->lock, latest->state, last_fence_);
    }
  }
}

void Node::sync(const Server& primary) {
  must_sync = false;
  std::ranges::fill(taken_in_, nullptr);
  data.load(primary.memory());
}

void Node::restart(Time at) {
  ++run;
  up_at = at;
  hung_until = refuses_until = 0;
  subscribers.clear();
}

}  // namespace holdfast::simulation
