// SPDX-License-Identifier: Apache-2.0
#include "simulation/network.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::simulation {

Network::Network(const Time& now, const Plan& plan, Dice& dice, Recorder& recorder)
    : Environment(now, plan, dice, recorder), server_(now, plan, recorder, *this) {}

std::shared_ptr<Line> Network::join(history::ProcessId number, std::shared_ptr<Process> process) {
  auto line = std::make_shared<Line>(number, process, plan_, recorder_, *this);
  links_.push_back({.process = std::move(process), .line = line});
  return line;
}

void Network::trouble_a_process(history::ProcessId process) {
  if (dice_.one_in(faults_->partition)) {
    const auto direction = static_cast<Direction>(dice_.between(1, 3));
    cut(process, direction, now_ + dice_.mostly_short(4 * plan_.ttl));
  }
  if (dice_.one_in(faults_->cut_subscription)) {
    cut_subscription(process, now_ + dice_.mostly_short(2 * plan_.ttl));
  }
}

void Network::trouble_the_store() {
  if (dice_.one_in(faults_->force)) force_something();
  if (dice_.one_in(faults_->step_clock)) {
    const Time by = dice_.mostly_short(10 * plan_.ttl) * (dice_.one_in(2) ? 1 : -1);
    note_clock_step(by);
    server_.step_clock(by);
  }
  const bool forgets = dice_.one_in(faults_->amnesia);
  if (!forgets && !dice_.one_in(faults_->restart)) {
    if (dice_.one_in(faults_->failover)) fail_over();
    return;
  }
  const Time away_until = now_ + millisecond + dice_.mostly_short(second);
  recorder_.fault(What::unreachable, 0, away_until);
  server_down(away_until);
  if (!forgets) return;
  recorder_.fault(What::data_lost, 0);
  server_.forget_everything();
  copy_.reset();
}

// The replica that takes over knows what the primary knew a moment before it died.
void Network::fail_over() {
  copy_ = server_.memory();
  outside.add(outside_time(now_ + dice_.mostly_short(second)), [this] {
    if (is_healed() || !copy_) return;
    const Time away_until = now_ + dice_.between(50, 1000) * millisecond;
    recorder_.fault(What::unreachable, 0, away_until);
    recorder_.fault(What::data_lost, 0);
    server_down(away_until);
    server_.load(*std::exchange(copy_, std::nullopt));
  });
}

void Network::force_something() {
  if (!is_server_up()) return;
  const std::size_t lock = dice_.below(plan_.locks.size());
  Event& event = recorder_.fault(What::forced, 0);
  event.name = static_cast<history::NameId>(lock + 1);
  const std::size_t index = recorder_.history.events.size() - 1;
  const Fence fence = server_.force(lock);
  // Whoever was ousted is kept out from now on, whatever it still believes.
  recorder_.history.events[index].fence = fence;
  on_forced(lock, fence);
  tell_waiters(lock);
}

Network::Slot Network::new_packet(history::ProcessId process) {
  if (free_slots_.empty()) {
    packets_.emplace_back();
    free_slots_.push_back(static_cast<Slot>(packets_.size() - 1));
  }
  const Slot slot = free_slots_.back();
  free_slots_.pop_back();
  packets_[slot].process = process;
  packets_[slot].late = false;
  packets_[slot].era = era_;
  return slot;
}

Network::Slot Network::copy_of(Slot slot) {
  recorder_.harmless_fault();
  const Slot copy = new_packet(packets_[slot].process);
  packets_[copy] = packets_[slot];
  packets_[copy].late = true;
  return copy;
}

void Network::drop(Slot slot) {
  packets_[slot].request.reset();
  packets_[slot].reply.reset();
  packets_[slot].told.reset();
  free_slots_.push_back(slot);
}

Time Network::travel(Time& last_arrival) {
  const Time usual = plan_.latency + dice_.between(0, plan_.latency / 2);
  if (faults_->reorder) return now_ + usual + dice_.mostly_short(20 * millisecond);
  return last_arrival = std::max(now_ + usual, last_arrival + 1);
}

void Network::hold_up(Packet& packet, Time& arrival, Time longest) {
  packet.late = true;
  arrival += dice_.mostly_short(longest);
  recorder_.fault(What::unreachable, packet.process, arrival);
}

void Network::carry(history::ProcessId from, CallId call, store::Request request) {
  const Slot slot = new_packet(from);
  packets_[slot].call = call;
  packets_[slot].sent = now_;
  packets_[slot].request.emplace(std::move(request));
  send_up(slot);
}

void Network::send_up(Slot slot) {
  Packet& packet = packets_[slot];
  Link& from = link(packet.process);
  if (from.up_cut_until > now_) {
    recorder_.harmless_fault();
    return drop(slot);
  }
  if (dice_.one_in(faults_->lose_request)) {
    recorder_.fault(What::unreachable, packet.process, now_);
    return drop(slot);
  }
  Time arrival = travel(from.last_up);
  if (dice_.one_in(faults_->delay)) hold_up(packet, arrival, 4 * plan_.ttl);
  if (dice_.one_in(faults_->duplicate)) {
    outside.add(outside_time(arrival + dice_.mostly_short(4 * plan_.ttl)),
                [this, copy = copy_of(slot)] { reach_server(copy); });
  }
  outside.add(outside_time(arrival), [this, slot] { reach_server(slot); });
}

void Network::reach_server(Slot slot) {
  Packet& packet = packets_[slot];
  if (is_stale(packet)) return drop(slot);
  if (!is_server_up()) {
    // Refused, as by a machine without the process, or swallowed, as by one that is switched off.
    if (dice_.one_in(2)) return drop(slot);
    packet.reply.emplace(fail(Errc::unavailable, "connection refused"));
    return send_down(slot, false);
  }
  const std::size_t lock = server_.lock_named(packet.request->name);
  packet.reply.emplace(server_.apply(*packet.request, packet.sent));
  packet.request.reset();
  const bool queued = *packet.reply && std::holds_alternative<model::Queued>(
                                           std::get<model::LockOutcome>((*packet.reply)->outcome));
  send_down(slot, queued && dice_.one_in(faults_->hold_back_queued));
  tell_waiters(lock);
}

void Network::send_down(Slot slot, bool holds_up) {
  Packet& packet = packets_[slot];
  Link& to = link(packet.process);
  if (to.down_cut_until > now_) {
    recorder_.harmless_fault();
    return drop(slot);
  }
  if (dice_.one_in(faults_->lose_reply)) {
    recorder_.fault(What::unreachable, packet.process, now_);
    return drop(slot);
  }
  Time arrival = travel(to.last_down);
  if (holds_up || dice_.one_in(faults_->delay)) {
    hold_up(packet, arrival, holds_up ? second : 4 * plan_.ttl);
  }
  if (dice_.one_in(faults_->duplicate)) arrive_late_again(slot, arrival);
  to.process->arrive(arrival, [this, slot] { reach_process(slot); });
}

void Network::arrive_late_again(Slot slot, Time arrival) {
  link(packets_[slot].process)
      .process->arrive(arrival + dice_.mostly_short(4 * plan_.ttl),
                       [this, copy = copy_of(slot)] { reach_process(copy); });
}

void Network::tell_waiters(std::size_t lock) {
  for (const model::Message& message : server_.messages) send_notice({lock, message});
}

void Network::send_notice(Told told) {
  const auto process = Line::process_of(told.message.process);
  Link& to = link(process);
  if (!to.subscribed) return;
  if (to.down_cut_until > now_) return recorder_.harmless_fault();
  if (dice_.one_in(faults_->lose_notice)) {
    recorder_.fault(What::unreachable, process, now_);
    return;
  }
  if (dice_.one_in(faults_->stop_at_grant)) {
    stop(process, now_ + dice_.between(0, 3 * plan_.ttl));
  }
  const Slot slot = new_packet(process);
  packets_[slot].told.emplace(std::move(told));
  Time arrival = travel(to.last_notice);
  if (dice_.one_in(faults_->delay)) hold_up(packets_[slot], arrival, 4 * plan_.ttl);
  if (dice_.one_in(faults_->duplicate_notice)) arrive_late_again(slot, arrival);
  to.process->arrive(arrival, [this, slot] { reach_process(slot); });
}

void Network::reach_process(Slot slot) {
  Packet& packet = packets_[slot];
  Line& line = *link(packet.process).line;
  const bool arrives = !is_stale(packet) && !line.is_gone();
  // Taken out first: what it sets off may send more.
  auto told = std::exchange(packet.told, std::nullopt);
  auto reply = std::exchange(packet.reply, std::nullopt);
  const CallId call = packet.call;
  drop(slot);
  if (!arrives) return;
  if (told) return line.tell(plan_.locks[told->lock].name, told->message);
  line.answer(call, std::move(*reply));
}

bool Network::hears(model::ProcessId process) const {
  const auto number = Line::process_of(process);
  if (number == 0 || number > links_.size()) return false;
  return links_[number - 1].subscribed;
}

void Network::cut(history::ProcessId process, Direction direction, Time until) {
  Link& cut = link(process);
  recorder_.fault(What::unreachable, process, until);
  if (direction != Direction::down) cut.up_cut_until = until;
  if (direction == Direction::up) return;
  cut.down_cut_until = until;
  // The server may notice, or may go on talking to nobody.
  if (dice_.one_in(2)) cut.subscribed = false;
  subscribe_again(process, until);
}

void Network::cut_subscription(history::ProcessId process, Time until) {
  recorder_.fault(What::unreachable, process, until);
  link(process).subscribed = false;
  subscribe_again(process, until);
}

void Network::subscribe_again(history::ProcessId process, Time at) {
  outside.add(outside_time(at), [this, process] {
    Link& back = link(process);
    if (back.line->is_gone()) return;
    back.subscribed = true;
    back.process->arrive(now_ + plan_.latency, [this, process] {
      if (!link(process).line->is_gone()) link(process).line->subscribed_again();
    });
  });
}

void Network::crash(history::ProcessId process, Time noticed_after) {
  outside.add(outside_time(now_ + noticed_after),
              [this, process] { link(process).subscribed = false; });
}

void Network::server_down(Time until) {
  server_up_at_ = until;
  for (history::ProcessId process = 1; process <= links_.size(); ++process) {
    Link& broken = link(process);
    if (broken.line->is_gone()) continue;
    broken.subscribed = false;
    subscribe_again(process, until + dice_.between(0, 50 * millisecond));
    if (dice_.one_in(2)) continue;
    broken.process->arrive(now_ + plan_.latency, [this, process] {
      if (!link(process).line->is_gone()) link(process).line->break_connection();
    });
  }
}

void Network::heal() {
  ++era_;
  end_faults();
  for (history::ProcessId process = 1; process <= links_.size(); ++process) {
    Link& healed = link(process);
    if (healed.line->is_gone()) {
      healed.subscribed = false;
      continue;
    }
    const bool missed_messages = !healed.subscribed || healed.down_cut_until > now_;
    healed.up_cut_until = healed.down_cut_until = 0;
    healed.process->stop_until(now_);
    if (missed_messages) subscribe_again(process, now_);
  }
}

}  // namespace holdfast::simulation
