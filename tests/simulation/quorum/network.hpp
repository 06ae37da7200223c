// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simulation/quorum/line.hpp"
#include "simulation/quorum/troubles.hpp"
#include "simulation/recorder.hpp"
#include "simulation/turns.hpp"

#include <memory>
#include <set>
#include <vector>

namespace holdfast::simulation::quorum {

// Everything between the clients and the members: what is lost, late, doubled, or cut off.
class Network final : public Carrier {
 public:
  Network(const Time& now, const Plan& plan, Dice& dice, Recorder& recorder);

  // What is on its way to the members, and whatever else happens by itself.
  runtime::TimerHeap at_members;
  Member& member(std::size_t number) { return *members_[number]; }
  const Member& member(std::size_t number) const { return *members_[number]; }
  // Clients are numbered from 0 in the order in which they join.
  void join(std::shared_ptr<Process> process, std::vector<std::shared_ptr<Line>> lines);

  void carry(const LineId& from, Sent sent) override;
  bool gives_up_on_silence() override { return dice_.one_in(faults_->reconnect); }

  enum class Direction : std::uint8_t { up = 1, down = 2, both = 3 };
  void cut(const LineId& line, Direction direction, Time until);
  void reset(const LineId& line);
  void crash(std::size_t client, Time noticed_after);
  void restart(std::size_t member, Time up_at, bool forgets);
  // All is well from here on, and copies that were held up are gone.
  void heal();
  // The client does nothing until then.
  void stopped(std::size_t client, Time until);
  // Whether the client could talk to a majority, and that of these members, at every moment of the
  // time before now.
  bool had_a_majority(std::size_t client, const std::vector<std::size_t>& members,
                      Time for_so_long) const;

  // Beyond the time for which a place in line is given back: it ends by itself.
  bool was_cut_for_long(const LineId& line) const {
    return clients_[line.client].links[line.member].was_cut_for_long;
  }
  // A copy of this request, or one that came after its caller had given up on it, was granted or
  // queued there: nobody can know of it, and it ends by itself.
  bool is_stray(std::size_t member, model::RequestId request) const {
    return strays_[member].contains(request);
  }

 private:
  struct Link {
    std::shared_ptr<Line> line;
    Time up_cut_until = 0;
    Time down_cut_until = 0;
    Time cut_from = 0;
    bool was_cut_for_long = false;
    bool subscribed = true;
    // Arrivals, which keep their order within a connection.
    std::uint32_t connection = 0;
    Time last_up = 0;
    Time last_down = 0;
    Time last_notice = 0;
    Troubles troubles;
  };
  struct Client {
    std::shared_ptr<Process> process;
    std::vector<Link> links;
  };
  struct Packet {
    LineId line;
    Sent sent;
    bool is_copy = false;
    std::uint32_t era = 0;
  };

  Link& link(const LineId& id) { return clients_[id.client].links[id.member]; }
  Process& process(const LineId& id) { return *clients_[id.client].process; }
  bool hears(std::size_t member, model::ProcessId process) const;
  // Of whatever is on its way, and what is sent again after it.
  void trouble(Link& link, Time until) const;
  Time travel(Link& link);
  Time in_order(Link& link, std::uint32_t connection, Time Link::* last);
  void reach_member(const Packet& packet);
  void note_stray(const Packet& packet);
  void answer(const Packet& packet, Result<store::Reply> reply);
  void refuse(const Packet& packet);
  void tell_waiters(std::size_t member, const LockName& name);
  void cut_most(std::size_t client);
  void subscribe_again(const LineId& line, Time at);

  const Time& now_;
  const Plan& plan_;
  const Faults* faults_;
  Dice& dice_;
  Recorder& recorder_;
  std::uint32_t era_ = 0;
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<Client> clients_;
  std::vector<std::set<model::RequestId>> strays_;  // by member
};

}  // namespace holdfast::simulation::quorum
