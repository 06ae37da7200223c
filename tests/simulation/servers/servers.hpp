// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simulation/environment.hpp"
#include "simulation/servers/node.hpp"
#include "simulation/servers/wire.hpp"

#include <memory>
#include <vector>

namespace holdfast::simulation {

// A primary, replicas that follow it a little later, and the connections of the processes to them.
class Servers final : public Environment, public Carrier {
 public:
  Servers(const Time& now, const Plan& plan, Dice& dice, Recorder& recorder);

  std::shared_ptr<Line> join(history::ProcessId number, std::shared_ptr<Process> process) override;
  void trouble_a_process(history::ProcessId process) override;
  void trouble_the_store() override;
  void crash(history::ProcessId process, Time noticed_after) override;
  void heal() override;
  Time away_for() const override;

  void carry(history::ProcessId from, CallId call, store::Request request) override;
  bool was_sent(history::ProcessId from, CallId call) const override;
  void heard_nothing(history::ProcessId from, CallId call) override;

  // For the wires.
  Time now() const { return now_; }
  const Plan& plan() const { return plan_; }
  const Faults& faults() const { return *faults_; }
  Dice& dice() { return dice_; }
  Recorder& recorder() { return recorder_; }
  Node& node(std::size_t number) { return *nodes_[number]; }
  bool is_all_well() const { return is_healed(); }
  // Where a new connection ends up.
  std::size_t resolve();
  Identity identify(std::size_t server) const;
  // The first thing that a new connection does to a primary.
  Identity greet(std::size_t server);
  Result<store::Reply> apply(std::size_t server, const store::Request& request, Time sent,
                             Server::LoneGrant lone);

 private:
  Process& process(history::ProcessId number) override { return wire(number).process(); }
  Wire& wire(history::ProcessId number) const { return *wires_[number - 1]; }
  Node& primary() { return *nodes_[primary_]; }

  // Passes on what the last step of a primary on this lock has changed and told.
  void passed(std::size_t server, std::size_t lock);
  void replicate(std::size_t lock, std::vector<model::Message> messages);
  void follow(std::size_t replica);
  void publish(std::size_t server, const Told& told);

  void force_something();
  void fail_over();
  void begin_failover(std::size_t replica, bool keeps_connections);
  void promote(std::size_t replica);
  void restart(Time away_for);
  void return_to_snapshot();
  void cut_connections_of(std::size_t server);

  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<Wire>> wires_;
  std::size_t primary_ = 0;
  std::size_t stale_address_ = 0;  // where the address leads until everybody knows better
  Time stale_until_ = 0;
  std::uint32_t lineage_ = 1;
  bool is_failing_over_ = false;
  Time settled_at_ = 0;
  std::optional<Memory> snapshot_;
};

}  // namespace holdfast::simulation
