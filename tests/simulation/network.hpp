// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simulation/environment.hpp"
#include "simulation/server.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace holdfast::simulation {

// One server, and everything between the processes and it: what is lost, late, doubled, or cut off.
class Network final : public Environment, public Carrier, public Subscribers {
 public:
  Network(const Time& now, const Plan& plan, Dice& dice, Recorder& recorder);

  std::shared_ptr<Line> join(history::ProcessId number, std::shared_ptr<Process> process) override;
  void carry(history::ProcessId from, CallId call, store::Request request) override;
  bool hears(model::ProcessId process) const override;
  void trouble_a_process(history::ProcessId process) override;
  void trouble_the_store() override;
  void crash(history::ProcessId process, Time noticed_after) override;
  void heal() override;
  Time away_for() const override { return std::max<Time>(0, server_up_at_ - now_); }

 private:
  enum class Direction : std::uint8_t { up = 1, down = 2, both = 3 };
  struct Link {
    std::shared_ptr<Process> process;
    std::shared_ptr<Line> line;
    Time up_cut_until = 0;
    Time down_cut_until = 0;
    bool subscribed = true;
    Time last_up = 0;  // arrivals, which keep their order unless something goes wrong
    Time last_down = 0;
    Time last_notice = 0;
  };
  // On its way up it is a request, on its way down a reply or a message. Kept in a numbered slot.
  struct Packet {
    history::ProcessId process = 0;
    CallId call = 0;
    Time sent = 0;      // the request it is, or belongs to
    bool late = false;  // held up, or a copy
    std::uint32_t era = 0;
    std::optional<store::Request> request;
    std::optional<Result<store::Reply>> reply;
    std::optional<Told> told;
  };
  using Slot = std::uint32_t;

  Link& link(history::ProcessId process) { return links_[process - 1]; }
  Process& process(history::ProcessId number) override { return *link(number).process; }
  bool is_server_up() const { return server_up_at_ <= now_; }
  void force_something();
  void fail_over();
  void cut(history::ProcessId process, Direction direction, Time until);
  void cut_subscription(history::ProcessId process, Time until);
  // The server is away; whoever is connected learns it at once or by waiting.
  void server_down(Time until);
  // Sends what the server has to tell since its last step on this lock.
  void tell_waiters(std::size_t lock);
  Slot new_packet(history::ProcessId process);
  Slot copy_of(Slot slot);
  void drop(Slot slot);
  bool is_stale(const Packet& packet) const { return packet.late && packet.era != era_; }

  Time travel(Time& last_arrival);
  void hold_up(Packet& packet, Time& arrival, Time longest);
  void send_up(Slot slot);
  void send_down(Slot slot, bool holds_up);
  void send_notice(Told told);
  void arrive_late_again(Slot slot, Time arrival);
  void reach_server(Slot slot);
  void reach_process(Slot slot);
  void subscribe_again(history::ProcessId process, Time at);

  Server server_;
  std::optional<Memory> copy_;  // what a replica that takes over would know
  Time server_up_at_ = 0;
  std::uint32_t era_ = 0;  // what was held up when the network healed is gone
  std::vector<Link> links_;
  std::deque<Packet> packets_;
  std::vector<Slot> free_slots_;
};

}  // namespace holdfast::simulation
