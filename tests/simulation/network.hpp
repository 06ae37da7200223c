// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simulation/line.hpp"
#include "simulation/server.hpp"
#include "simulation/turns.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace holdfast::simulation {

// Everything between the processes and the server: what is lost, late, doubled, or cut off.
class Network final : public Carrier, public Subscribers {
 public:
  Network(const Time& now, const Plan& plan, Dice& dice, Recorder& recorder);

  // The server's own timers, and what is on its way to it.
  runtime::TimerHeap at_server;
  void connect(Server& server) { server_ = &server; }
  // Processes are numbered from 1 in the order in which they join.
  void join(std::shared_ptr<Process> process, std::shared_ptr<Line> line);

  void carry(history::ProcessId from, CallId call, store::Request request) override;
  bool hears(model::ProcessId process) const override;
  // Sends what the server has to tell since its last step on this lock.
  void tell_waiters(std::size_t lock);

  enum class Direction : std::uint8_t { up = 1, down = 2, both = 3 };
  void cut(history::ProcessId process, Direction direction, Time until);
  void cut_subscription(history::ProcessId process, Time until);
  void crash(history::ProcessId process, Time noticed_after);
  // The server is away; whoever is connected learns it at once or by waiting.
  void server_down(Time until);
  bool is_server_up() const { return server_up_at_ <= now_; }
  Time server_away_for() const { return std::max<Time>(0, server_up_at_ - now_); }
  void stop(history::ProcessId process, Time until);
  // All is well from here on, and what was held up is gone.
  void heal();

 private:
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
  struct Told {
    std::size_t lock = 0;
    model::Message message;
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

  const Time& now_;
  const Plan& plan_;
  const Faults* faults_;
  Dice& dice_;
  Recorder& recorder_;
  Server* server_ = nullptr;
  Time server_up_at_ = 0;
  std::uint32_t era_ = 0;  // what was held up when the network healed is gone
  std::vector<Link> links_;
  std::deque<Packet> packets_;
  std::vector<Slot> free_slots_;
};

}  // namespace holdfast::simulation
