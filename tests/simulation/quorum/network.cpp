// SPDX-License-Identifier: Apache-2.0
#include "simulation/quorum/network.hpp"

#include "backends/quorum/vote.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::simulation::quorum {

namespace {

constexpr Faults no_faults;
constexpr Time slowest = 800 * millisecond;

bool is_vote(const store::Request& request) {
  const auto& command = std::get<model::LockCommand>(request.command);
  return std::holds_alternative<model::Acquire>(command.verb);
}

}  // namespace

Network::Network(const Time& now, const Plan& plan, Dice& dice, Recorder& recorder)
    : now_(now),
      plan_(plan),
      faults_(&plan.faults),
      dice_(dice),
      recorder_(recorder),
      strays_(plan.members()) {
  for (std::size_t i = 0; i < plan.members(); ++i) {
    members_.push_back(std::make_unique<Member>(
        now, plan, i, [this, i](model::ProcessId process) { return hears(i, process); }));
  }
}

void Network::join(std::shared_ptr<Process> process, std::vector<std::shared_ptr<Line>> lines) {
  Client client{.process = std::move(process), .links = {}};
  for (auto& line : lines) client.links.push_back({.line = std::move(line)});
  clients_.push_back(std::move(client));
}

bool Network::hears(std::size_t member, model::ProcessId process) const {
  const auto number = std::to_underlying(process);
  if (number == 0 || number > clients_.size()) return false;
  return clients_[number - 1].links[member].subscribed;
}

void Network::trouble(Link& link, Time until) const {
  constexpr Time until_asked_again = 250 * millisecond;
  const Time patience = plan_.options.timeout.count() * microsecond;
  link.troubles.add(now_, until + patience + until_asked_again);
}

void Network::stopped(std::size_t client, Time until) {
  for (Link& link : clients_[client].links) trouble(link, until);
}

bool Network::had_a_majority(std::size_t client, const std::vector<std::size_t>& members,
                             Time for_so_long) const {
  const auto needed = backends::quorum::majority_of(members_.size());
  if (members.size() < needed) return false;
  std::vector<std::pair<Time, int>> changes;
  for (const std::size_t member : members) {
    clients_[client].links[member].troubles.collect(now_ - for_so_long, now_, changes);
  }
  return were_well(std::move(changes), members.size(), needed);
}

Time Network::travel(Link& link) {
  const Time usual = plan_.latency + dice_.between(0, plan_.latency / 2);
  if (!dice_.one_in(faults_->slow)) return now_ + usual;
  recorder_.harmless_fault();
  const Time late = now_ + usual + dice_.between(0, slowest);
  trouble(link, late);
  return late;
}

// A new connection does not wait for what is still on its way by the old one.
Time Network::in_order(Link& link, std::uint32_t connection, Time Link::* last) {
  if (link.connection != connection) {
    link.connection = connection;
    link.last_up = link.last_down = 0;
  }
  const Time arrival = std::max(travel(link), link.*last + 1);
  return link.*last = arrival;
}

void Network::carry(const LineId& from, Sent sent) {
  Link& link = this->link(from);
  if (link.up_cut_until > now_ || dice_.one_in(faults_->lose)) {
    trouble(link, now_);
    return recorder_.harmless_fault();
  }
  const Time arrival = in_order(link, sent.connection, &Link::last_up);
  Packet packet{.line = from, .sent = std::move(sent), .era = era_};
  if (dice_.one_in(faults_->duplicate)) {
    recorder_.harmless_fault();
    Packet copy = packet;
    copy.is_copy = true;
    at_members.add(outside_time(arrival + dice_.mostly_short(4 * plan_.ttl)),
                   [this, copy = std::move(copy)] { reach_member(copy); });
  }
  at_members.add(outside_time(arrival),
                 [this, packet = std::move(packet)] { reach_member(packet); });
}

void Network::reach_member(const Packet& packet) {
  if (packet.is_copy && packet.era != era_) return;
  Member& member = *members_[packet.line.member];
  // Refused, as by a machine without the process, or swallowed, as by one that is switched off.
  if (!member.is_up()) return dice_.one_in(2) ? refuse(packet) : void();
  const bool is_of_an_earlier_life =
      packet.sent.run != 0 && packet.sent.run != member.identity().run;
  if (is_of_an_earlier_life) return refuse(packet);
  note_stray(packet);
  auto reply = member.apply(packet.sent.request);
  answer(packet, std::move(reply));
  if (is_vote(packet.sent.request) && dice_.one_in(faults_->cut_at_vote)) {
    cut_most(packet.line.client);
  }
  tell_waiters(packet.line.member, packet.sent.request.name);
}

void Network::note_stray(const Packet& packet) {
  if (!is_vote(packet.sent.request)) return;
  const auto& command = std::get<model::LockCommand>(packet.sent.request.command);
  const auto request = std::get<model::Acquire>(command.verb).request;
  const bool is_waited_for = link(packet.line).line->waits_for(packet.sent.call);
  if (packet.is_copy || !is_waited_for) strays_[packet.line.member].insert(request);
}

void Network::answer(const Packet& packet, Result<store::Reply> reply) {
  if (packet.is_copy) return;
  Link& to = link(packet.line);
  if (to.down_cut_until > now_ || dice_.one_in(faults_->lose)) {
    trouble(to, now_);
    return recorder_.harmless_fault();
  }
  const bool is_given_up = to.connection != packet.sent.connection;
  if (is_given_up) return;
  const Time arrival = in_order(to, packet.sent.connection, &Link::last_down);
  process(packet.line)
      .arrive(arrival, [line = to.line, who = members_[packet.line.member]->identity(),
                        connection = packet.sent.connection, call = packet.sent.call,
                        reply = std::move(reply)]() mutable {
        if (!line->is_gone()) line->answer(connection, who, call, std::move(reply));
      });
}

// Whoever was only about to connect knows that nothing happened.
void Network::refuse(const Packet& packet) {
  if (packet.is_copy) return;
  const Errc code = packet.sent.run == 0 ? Errc::unavailable : Errc::outcome_unknown;
  process(packet.line)
      .arrive(now_ + plan_.latency, [line = link(packet.line).line, code,
                                     connection = packet.sent.connection, call = packet.sent.call] {
        if (!line->is_gone()) line->refused(connection, call, code);
      });
}

void Network::tell_waiters(std::size_t member, const LockName& name) {
  for (const model::Message& message : members_[member]->messages) {
    const LineId id{.client = std::to_underlying(message.process) - 1, .member = member};
    Link& to = link(id);
    if (!to.subscribed) continue;
    if (to.down_cut_until > now_ || dice_.one_in(faults_->lose)) {
      recorder_.harmless_fault();
      continue;
    }
    to.last_notice = std::max(travel(to), to.last_notice + 1);
    process(id).arrive(to.last_notice, [line = to.line, name, message] {
      if (!line->is_gone()) line->tell(name, message);
    });
  }
}

void Network::cut(const LineId& line, Direction direction, Time until) {
  Link& cut = link(line);
  trouble(cut, until);
  // What is given back in the background may miss a moment in which it could be heard.
  const Time last_trouble =
      std::max({cut.up_cut_until, cut.down_cut_until, process(line).stopped_until()});
  if (last_trouble + 3 * second / 2 < now_) cut.cut_from = now_;
  const Time longest = std::chrono::nanoseconds(model::limits::queue_ttl).count() - second;
  if (until - cut.cut_from > longest) cut.was_cut_for_long = true;
  if (direction != Direction::down) cut.up_cut_until = until;
  if (direction == Direction::up) return;
  cut.down_cut_until = until;
  // The member may notice, or may go on talking to nobody.
  if (dice_.one_in(2)) cut.subscribed = false;
  subscribe_again(line, until);
}

// From all members but one, or from all of them.
void Network::cut_most(std::size_t client) {
  const std::size_t spared = dice_.below(plan_.members() + 1);
  const Time until = now_ + dice_.between(0, plan_.ttl);
  recorder_.fault(What::unreachable, static_cast<history::ProcessId>(client + 1), until);
  for (std::size_t member = 0; member < plan_.members(); ++member) {
    if (member != spared) cut({client, member}, Direction::up, until);
  }
}

void Network::reset(const LineId& line) {
  trouble(link(line), now_ + plan_.latency);
  process(line).arrive(now_ + plan_.latency, [broken = link(line).line] {
    if (!broken->is_gone()) broken->break_connection();
  });
}

void Network::subscribe_again(const LineId& line, Time at) {
  at_members.add(outside_time(at), [this, line] {
    Link& back = link(line);
    if (back.line->is_gone()) return;
    const Time up_at = members_[line.member]->up_at();
    if (up_at > now_) return subscribe_again(line, up_at);
    back.subscribed = true;
    process(line).arrive(now_ + plan_.latency, [line = back.line] {
      if (!line->is_gone()) line->subscribed_again();
    });
  });
}

void Network::crash(std::size_t client, Time noticed_after) {
  at_members.add(outside_time(now_ + noticed_after), [this, client] {
    for (Link& link : clients_[client].links) link.subscribed = false;
  });
}

void Network::restart(std::size_t member, Time up_at, bool forgets) {
  members_[member]->restart(up_at, forgets);
  for (std::size_t client = 0; client < clients_.size(); ++client) {
    const LineId id{client, member};
    // What it forgot it has again after the next renewal but one.
    trouble(link(id), forgets ? up_at + plan_.ttl : up_at);
    if (link(id).line->is_gone()) continue;
    link(id).subscribed = false;
    subscribe_again(id, up_at + dice_.between(0, 50 * millisecond));
    // Whoever is connected learns it at once, or by asking.
    if (dice_.one_in(2)) reset(id);
  }
}

void Network::heal() {
  ++era_;
  faults_ = &no_faults;
  for (const auto& member : members_) member->come_up();
  for (std::size_t client = 0; client < clients_.size(); ++client) {
    clients_[client].process->stop_until(now_);
    for (std::size_t member = 0; member < members_.size(); ++member) {
      Link& healed = link({client, member});
      const bool is_gone = healed.line->is_gone();
      const bool missed_messages = !healed.subscribed || healed.down_cut_until > now_;
      healed.up_cut_until = healed.down_cut_until = 0;
      if (is_gone) healed.subscribed = false;
      if (!is_gone && missed_messages) subscribe_again({client, member}, now_);
    }
  }
}

}  // namespace holdfast::simulation::quorum
