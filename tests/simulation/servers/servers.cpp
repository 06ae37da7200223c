// SPDX-License-Identifier: Apache-2.0
#include "simulation/servers/servers.hpp"

#include "planted.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::simulation {

Servers::Servers(const Time& now, const Plan& plan, Dice& dice, Recorder& recorder)
    : Environment(now, plan, dice, recorder) {
  for (std::size_t i = 0; i < plan.servers.count; ++i) {
    nodes_.push_back(std::make_unique<Node>(now, plan, recorder, i));
  }
  primary().is_primary = true;
}

std::shared_ptr<Line> Servers::join(history::ProcessId number, std::shared_ptr<Process> process) {
  auto line = std::make_shared<Line>(number, process, plan_, recorder_, *this);
  wires_.push_back(std::make_unique<Wire>(*this, number, process, line));
  process->post([wire = wires_.back().get()] { wire->start(); });
  // Until it has found its server.
  recorder_.fault(What::unreachable, number, now_ + second);
  return line;
}

void Servers::carry(history::ProcessId from, CallId call, store::Request request) {
  wire(from).send(call, std::move(request));
}

bool Servers::was_sent(history::ProcessId from, CallId call) const {
  return wire(from).was_sent(call);
}

void Servers::heard_nothing(history::ProcessId from, CallId call) {
  wire(from).heard_nothing(call);
}

std::size_t Servers::resolve() {
  if (plan_.servers.is_balanced) return dice_.below(nodes_.size());
  return stale_until_ > now_ ? stale_address_ : primary_;
}

Identity Servers::identify(std::size_t server) const {
  const Node& node = *nodes_[server];
  return {.server = server,
          .run = node.run,
          .lineage = lineage_,
          .is_primary = node.is_primary,
          .is_raised = false};
}

Identity Servers::greet(std::size_t server) {
  Identity identity = identify(server);
  if (!identity.is_primary) return identity;
  Node& node = *nodes_[server];
  identity.is_raised = !node.refuses();
  const bool was_raised_otherwise = planted::is(planted::Bug::fence_not_raised_after_snapshot) ||
                                    planted::is(planted::Bug::resync_cleared_by_reentry) ||
                                    planted::is(planted::Bug::resync_flag_of_old_connection);
  if (identity.is_raised && !was_raised_otherwise) {
    node.data.raise_fences();
    replicate(0, {});
  }
  return identity;
}

Result<store::Reply> Servers::apply(std::size_t server, const store::Request& request, Time sent,
                                    Server::LoneGrant lone) {
  Node& node = *nodes_[server];
  Result<store::Reply> reply = node.data.apply(request, sent, lone);
  passed(server, node.data.lock_named(request.name));
  return reply;
}

void Servers::passed(std::size_t server, std::size_t lock) {
  Server& data = nodes_[server]->data;
  std::vector<model::Message> messages = std::move(data.messages);
  for (const model::Message& message : messages) publish(server, {lock, message});
  for (model::Message& message : data.unmade) messages.push_back(std::move(message));
  replicate(lock, std::move(messages));
}

// Changes and messages alike, in their order, to every replica that is there.
void Servers::replicate(std::size_t lock, std::vector<model::Message> messages) {
  const Server& data = primary().data;
  const auto change = std::make_shared<const Change>(
      Change{lock, data.lock(lock), data.last_fence(), std::move(messages)});
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node& replica = *nodes_[i];
    if (i == primary_ || !replica.is_up()) continue;
    if (replica.must_sync) replica.sync(data);
    const Time usual = now_ + plan_.servers.replication_lag;
    const Time arrives = replica.expect(change, std::max(usual, replica.stalled_until));
    const bool is_heard = std::ranges::any_of(
        change->messages, [&](const auto& message) { return replica.hears(message.process); });
    if (is_heard)
      outside.add(outside_time(arrives), [this, i] { follow(i); });
    else
      replica.catch_up(now_);
  }
}

void Servers::follow(std::size_t replica) {
  for (const Told& told : nodes_[replica]->catch_up(now_)) publish(replica, told);
}

// To whoever has subscribed at this server.
void Servers::publish(std::size_t server, const Told& told) {
  const auto number = Line::process_of(told.message.process);
  const auto subscribers = nodes_[server]->subscribers;
  for (const Node::Subscriber& each : subscribers) {
    if (each.process != number) continue;
    if (dice_.one_in(faults_->lose_notice)) {
      nodes_[server]->unsubscribe(each);
      wire(number).reset_subscription();
      continue;
    }
    if (dice_.one_in(faults_->stop_at_grant)) stop(number, now_ + dice_.between(0, 3 * plan_.ttl));
    wire(number).tell(each.connection, told);
  }
}

void Servers::crash(history::ProcessId process, Time noticed_after) {
  outside.add(outside_time(now_ + noticed_after), [this, process] {
    for (const auto& node : nodes_) node->unsubscribe_all(process);
  });
}

void Servers::heal() {
  end_faults();
  for (const auto& node : nodes_) node->refuses_until = node->stalled_until = 0;
  stale_until_ = 0;
  for (history::ProcessId number = 1; number <= wires_.size(); ++number) {
    process(number).stop_until(now_);
    if (!wire(number).is_gone()) {
      wire(number).heal();
      continue;
    }
    for (const auto& node : nodes_) node->unsubscribe_all(number);
  }
}

Time Servers::away_for() const {
  return std::max<Time>(0, std::max(nodes_[primary_]->up_at, settled_at_) - now_);
}

}  // namespace holdfast::simulation
