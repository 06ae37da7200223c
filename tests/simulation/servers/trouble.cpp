// SPDX-License-Identifier: Apache-2.0
//
// What goes wrong with the servers: failovers that keep connections and failovers that cut them,
// with and without a loss of data, servers that return with what they knew some time ago, and
// clocks.
#include "simulation/servers/servers.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::simulation {

namespace {

// A client asks every now and then which server it talks to. Until then its waiters may stand
// nowhere, and its subscription be at a server that is no primary any more.
constexpr Time noticed_within = 5 * second;
// Fences may run ahead of the clock by less than this.
constexpr Time shortest_absence = 50 * millisecond;

}  // namespace

void Servers::trouble_a_process(history::ProcessId number) {
  Wire& troubled = wire(number);
  if (dice_.one_in(faults_->partition)) {
    const Time until = now_ + dice_.mostly_short(4 * plan_.ttl);
    const auto direction = dice_.between(1, 3);
    recorder_.fault(What::unreachable, number, until).delays = true;
    if (direction != 2) troubled.up_cut_until = until;
    if (direction != 1) troubled.down_cut_until = until;
  }
  if (dice_.one_in(faults_->cut_subscription)) troubled.reset_subscription();
}

void Servers::trouble_the_store() {
  const ServersPlan& more = plan_.servers;
  if (dice_.one_in(faults_->force)) force_something();
  if (dice_.one_in(more.keep_snapshot)) snapshot_ = primary().data.memory();
  if (dice_.one_in(more.stall_replication)) {
    for (const auto& node : nodes_) {
      node->stalled_until = now_ + dice_.mostly_short(2 * plan_.ttl);
    }
  }
  if (dice_.one_in(more.refuse_writes)) {
    primary().refuses_until = now_ + dice_.mostly_short(second);
    // Whoever was handed the lock and has to ask for it once more is refused, and passed over.
    recorder_.fault(What::unreachable, 0, primary().refuses_until);
  }
  if (dice_.one_in(more.change_rate)) {
    const std::int64_t fastest = plan_.drift_ppm;
    const std::int64_t ppm = dice_.between(-fastest, fastest);
    for (const auto& node : nodes_) node->data.change_rate(ppm);
  }
  if (dice_.one_in(faults_->step_clock)) {
    const Time by = dice_.mostly_short(10 * plan_.ttl) * (dice_.one_in(2) ? 1 : -1);
    note_clock_step(by);
    for (const auto& node : nodes_) node->data.step_clock(by);
  }
  if (is_failing_over_ || !primary().is_up() || primary().is_hung()) return;
  if (dice_.one_in(faults_->amnesia)) return return_to_snapshot();
  if (dice_.one_in(faults_->failover)) return fail_over();
  if (dice_.one_in(faults_->restart)) restart(millisecond + dice_.mostly_short(second));
}

void Servers::force_something() {
  if (!primary().is_up() || primary().is_hung()) return;
  const std::size_t lock = dice_.below(plan_.locks.size());
  Event& event = recorder_.fault(What::forced, 0);
  event.name = static_cast<history::NameId>(lock + 1);
  const std::size_t index = recorder_.history.events.size() - 1;
  const Fence fence = primary().data.force(lock);
  recorder_.history.events[index].fence = fence;
  on_forced(lock, fence);
  passed(primary_, lock);
}

void Servers::fail_over() {
  const std::size_t replica = (primary_ + 1 + dice_.below(nodes_.size() - 1)) % nodes_.size();
  const Node& node = *nodes_[replica];
  // A client that never noticed the change would not notice it any more.
  const bool was_primary_lately = node.demoted_at + noticed_within > now_;
  if (!node.is_up() || node.must_sync || was_primary_lately) return;
  if (!dice_.one_in(3)) return begin_failover(replica, dice_.one_in(2));
  // Planned: the replica has everything before the roles change.
  recorder_.harmless_fault();
  for (const Told& told : nodes_[replica]->catch_up(history::for_ever)) publish(replica, told);
  promote(replica);
}

// The primary hangs or dies, and after a while a replica takes over with what it knows.
void Servers::begin_failover(std::size_t replica, bool keeps_connections) {
  is_failing_over_ = true;
  const Time at = now_ + dice_.between(shortest_absence, second);
  settled_at_ = at + noticed_within;
  recorder_.fault(What::unreachable, 0, at);
  follow(replica);
  const bool loses = nodes_[replica]->is_behind();
  nodes_[replica]->forget_incoming();
  if (keeps_connections) {
    primary().hung_until = at;
  } else {
    primary().restart(at + dice_.mostly_short(second));
    primary().must_sync = true;
    cut_connections_of(primary_);
  }
  outside.add(outside_time(at), [this, replica, loses] {
    is_failing_over_ = false;
    if (loses) recorder_.fault(What::data_lost, 0);
    promote(replica);
  });
}

void Servers::promote(std::size_t replica) {
  Node& from = primary();
  Node& to = *nodes_[replica];
  to.settle();
  const auto ahead = std::chrono::nanoseconds(to.data.clock() - from.data.clock()).count();
  if (ahead != 0) note_clock_step(ahead);
  from.is_primary = false;
  from.demoted_at = now_;
  to.is_primary = true;
  stale_address_ = std::exchange(primary_, replica);
  stale_until_ = is_healed() ? 0 : now_ + dice_.mostly_short(second);
  ++lineage_;
  for (const auto& node : nodes_) {
    node->forget_incoming();
    node->must_sync = node.get() != &to;
  }
  recorder_.fault(What::unreachable, 0, now_ + noticed_within);
  settled_at_ = now_ + noticed_within;
}

void Servers::restart(Time away_for) {
  primary().restart(now_ + away_for);
  recorder_.fault(What::unreachable, 0, now_ + away_for + noticed_within);
  settled_at_ = now_ + away_for + noticed_within;
  cut_connections_of(primary_);
}

// It was killed, and comes back with what it had written down some time ago, or with nothing.
void Servers::return_to_snapshot() {
  restart(shortest_absence + dice_.mostly_short(second));
  recorder_.fault(What::data_lost, 0);
  if (snapshot_)
    primary().data.load(*snapshot_);
  else
    primary().data.forget_everything();
  if (dice_.one_in(plan_.servers.refuse_writes)) {
    primary().refuses_until = primary().up_at + dice_.between(0, second);
    recorder_.fault(What::unreachable, 0, primary().refuses_until);
  }
  ++lineage_;
  for (const auto& node : nodes_) {
    node->forget_incoming();
    node->must_sync = node.get() != &primary();
  }
}

// Some clients learn of it at once, the others when they say something.
void Servers::cut_connections_of(std::size_t server) {
  for (const auto& wire : wires_) {
    if (!wire->is_gone()) wire->server_died(server);
  }
}

}  // namespace holdfast::simulation
