// SPDX-License-Identifier: Apache-2.0
#include "simulation/servers/wire.hpp"

#include "planted.hpp"
#include "simulation/servers/servers.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::simulation {

namespace {

using planted::Bug;

bool is_acquire(const store::Request& request) {
  const auto& command = std::get<model::LockCommand>(request.command);
  return std::holds_alternative<model::Acquire>(command.verb);
}

}  // namespace

Wire::Wire(Servers& servers, history::ProcessId number, std::shared_ptr<Process> process,
           std::shared_ptr<Line> line)
    : servers_(servers), number_(number), process_(std::move(process)), line_(std::move(line)) {}

void Wire::start() {
  connect();
  subscribe();
}

Time Wire::arrival(Path& path, Time cut_until) {
  const Time latency = servers_.plan().latency;
  Time at = servers_.now() + latency + servers_.dice().between(0, latency / 2);
  if (servers_.dice().one_in(servers_.faults().delay)) {
    at += servers_.dice().mostly_short(2 * servers_.plan().ttl);
    servers_.recorder().fault(What::unreachable, number_, at).delays = true;
  }
  // What is cut off is sent again and again, until it passes.
  return path.last = std::max({at, cut_until + latency, path.last + 1});
}

void Wire::connect() {
  state_ = State::connecting;
  up_ = down_ = {};
  is_proven_ = false;
  const std::uint32_t connection = ++connection_;
  const std::size_t server = servers_.resolve();
  servers_.outside.add(outside_time(at_server()),
                       [this, connection, server] { knock(connection, server); });
}

void Wire::knock(std::uint32_t connection, std::size_t server) {
  if (connection != connection_ || is_gone()) return;
  Node& node = servers_.node(server);
  if (node.is_up() && node.is_hung()) {
    servers_.outside.add(outside_time(node.hung_until),
                         [this, connection, server] { knock(connection, server); });
  } else if (node.is_up()) {
    process_->arrive(at_client(), [this, connection, identity = servers_.greet(server)] {
      greeted(connection, identity);
    });
  } else {
    process_->arrive(at_client(), [this, connection] { refused(connection); });
  }
}

void Wire::refused(std::uint32_t connection) {
  if (connection != connection_ || is_gone()) return;
  state_ = State::backing_off;
  const auto waiting = std::exchange(waiting_, {});
  const Time pause = servers_.dice().between(5, 100) * millisecond;
  process_->schedule(process_->now() + std::chrono::nanoseconds(pause), [this, connection] {
    if (connection == connection_ && !is_gone()) connect();
  });
  for (const auto& command : waiting) {
    line_->answer(command->call, fail(Errc::unavailable, "connection refused"));
  }
}

void Wire::greeted(std::uint32_t connection, const Identity& identity) {
  if (connection != connection_ || is_gone()) return;
  must_compare_ = true;
  if (!identity.is_primary) {
    const Time pause = servers_.dice().between(1, 20) * millisecond;
    process_->schedule(process_->now() + std::chrono::nanoseconds(pause), [this, connection] {
      if (connection == connection_ && !is_gone()) connect();
    });
    return;
  }
  peer_ = {identity.server, identity.run};
  lineage_ = identity.lineage;
  is_raised_ = identity.is_raised;
  last_heard_ = servers_.now();
  const bool is_another = greetings_++ > 0;
  if (is_another) line_->changed();
  state_ = State::up;
  for (const auto& command : std::exchange(waiting_, {})) {
    if (line_->waits_for(command->call)) transmit(command);
  }
  if (!is_another || !planted::is(Bug::subscription_not_rebound_after_failover)) {
    check_subscription();
  }
  if (!std::exchange(is_watched_, true)) look_later();
}

void Wire::send(CallId call, store::Request request) {
  auto command = std::make_shared<Command>(
      Command{.call = call, .sent = servers_.now(), .request = std::move(request)});
  command->compares = must_compare_;
  switch (state_) {
    case State::connecting: waiting_.push_back(std::move(command)); break;
    case State::up: transmit(std::move(command)); break;
    case State::backing_off: line_->answer(call, fail(Errc::unavailable, "not connected"));
  }
}

void Wire::transmit(CommandPtr command) {
  if (planted::is(Bug::resync_cleared_by_reentry)) {
    command->compares = must_compare_;
  } else if (!planted::is(Bug::resync_flag_of_old_connection)) {
    command->compares = !is_raised_ && !planted::is(Bug::raise_refused_ignored);
  }
  const bool is_cut = up_cut_until > servers_.now();
  if (!is_cut || (unsent_.empty() && !servers_.dice().one_in(4))) return pass_on(command);
  // The socket is full: the rest waits in this process.
  if (unsent_.empty()) process_->arrive(up_cut_until, [this] { unblock(); });
  unsent_.push_back(std::move(command));
}

void Wire::unblock() {
  if (state_ != State::up || is_gone()) return;
  for (const auto& command : std::exchange(unsent_, {})) pass_on(command);
}

void Wire::pass_on(const CommandPtr& command) {
  command->proven = last_heard_;
  in_flight_.push_back(command);
  if (servers_.dice().one_in(servers_.faults().lose_request)) {
    servers_.recorder().fault(What::unreachable, number_, servers_.now());
    return reset_commands();
  }
  servers_.outside.add(outside_time(at_server()), [this, connection = connection_, peer = peer_,
                                                   command] { reach(connection, peer, command); });
}

// The connection was given up, but what had been sent by it goes on.
bool Wire::is_late_copy(std::uint32_t connection) const {
  if (connection == connection_) return false;
  return !servers_.is_all_well() && servers_.dice().one_in(servers_.plan().servers.late_copies);
}

void Wire::reach(std::uint32_t connection, Peer peer, const CommandPtr& command) {
  if (connection != connection_ && !is_late_copy(connection)) return;
  Node& node = servers_.node(peer.server);
  if (!node.is_up() || node.run != peer.run) {
    if (servers_.dice().one_in(2)) reset_commands();
    return;
  }
  if (node.is_hung()) {
    servers_.outside.add(outside_time(node.hung_until),
                         [this, connection, peer, command] { reach(connection, peer, command); });
    return;
  }
  // Only a proxy holds a command back for so long that its server is no primary and one again
  // meanwhile, and for proxies there is `fence_clock=always`.
  const bool is_from_before = connection != connection_ && command->proven < node.demoted_at;
  if (is_from_before) return;
  if (!node.is_primary) {
    process_->arrive(at_client(),
                     [this, connection, command] { turned_away(connection, command); });
    return;
  }
  if (node.refuses() && is_acquire(command->request)) {
    return answer(connection, command, fail(Errc::unavailable, "the server has no memory left"));
  }
  answer(connection, command,
         servers_.apply(peer.server, command->request, command->sent,
                        command->compares ? Server::LoneGrant::compares_with_the_clock
                                          : Server::LoneGrant::only_counts));
}

void Wire::answer(std::uint32_t connection, const CommandPtr& command, Result<store::Reply> reply) {
  if (connection != connection_) return;
  if (servers_.dice().one_in(servers_.faults().lose_reply)) {
    servers_.recorder().fault(What::unreachable, number_, servers_.now());
    return reset_commands();
  }
  process_->arrive(at_client(), [this, connection, command, reply = std::move(reply)]() mutable {
    answered(connection, command, std::move(reply));
  });
}

void Wire::answered(std::uint32_t connection, const CommandPtr& command,
                    Result<store::Reply> reply) {
  if (connection != connection_ || is_gone()) return;
  last_heard_ = servers_.now();
  std::erase(in_flight_, command);
  note_answer_of_bug(*command, reply);
  line_->answer(command->call, std::move(reply));
}

// The flag that the counter may be behind, as it once was: it went with any grant.
void Wire::note_answer_of_bug(const Command& command, const Result<store::Reply>& reply) {
  if (!reply || !command.compares || !is_acquire(command.request)) return;
  const auto& outcome = std::get<model::LockOutcome>(reply->outcome);
  if (std::holds_alternative<model::Granted>(outcome)) must_compare_ = false;
}

// A replica answers that it is read-only. The address may lead elsewhere by now.
void Wire::turned_away(std::uint32_t connection, const CommandPtr& command) {
  if (connection != connection_ || is_gone()) return;
  drop(line_->waits_for(command->call) ? command : nullptr);
}

void Wire::lost(std::uint32_t connection) {
  if (connection == connection_ && !is_gone()) drop();
}

void Wire::drop(CommandPtr again) {
  auto in_flight = std::exchange(in_flight_, {});
  waiting_.insert(waiting_.begin(), unsent_.begin(), unsent_.end());
  unsent_.clear();
  if (again) {
    std::erase(in_flight, again);
    waiting_.insert(waiting_.begin(), std::move(again));
  }
  connect();
  for (const auto& command : in_flight) {
    line_->answer(command->call, fail(Errc::outcome_unknown, "connection lost"));
  }
}

bool Wire::was_sent(CallId call) const {
  const auto has = [call](const std::vector<CommandPtr>& commands) {
    return std::ranges::any_of(commands, [call](const auto& each) { return each->call == call; });
  };
  return !has(waiting_) && !has(unsent_);
}

void Wire::heard_nothing(CallId call) {
  const auto is_it = [call](const CommandPtr& each) { return each->call == call; };
  std::erase_if(waiting_, is_it);
  std::erase_if(unsent_, is_it);
  const auto sent = std::ranges::find_if(in_flight_, is_it);
  const bool is_stalled = sent != in_flight_.end() && last_heard_ < (*sent)->sent;
  if (is_stalled && !is_gone()) drop();
}

void Wire::look_later() {
  const Time pause = servers_.dice().between(1000, 4000) * millisecond;
  process_->schedule(process_->now() + std::chrono::nanoseconds(pause), [this] {
    if (is_gone()) return;
    look();
    look_later();
  });
}

void Wire::look() {
  if (state_ != State::up) return;
  servers_.outside.add(outside_time(at_server()), [this, connection = connection_, peer = peer_] {
    const Node& node = servers_.node(peer.server);
    const bool answers = node.is_up() && node.run == peer.run && !node.is_hung();
    if (connection != connection_ || !answers) return;
    process_->arrive(at_client(), [this, connection, who = servers_.identify(peer.server)] {
      looked(connection, who);
    });
  });
}

void Wire::looked(std::uint32_t connection, const Identity& identity) {
  if (connection != connection_ || is_gone()) return;
  last_heard_ = servers_.now();
  if (!identity.is_primary || identity.lineage != lineage_) return drop();
  if (!planted::is(Bug::subscription_not_rebound_after_failover) &&
      !planted::is(Bug::subscription_on_another_server)) {
    check_subscription();
  }
}

void Wire::reset_commands() {
  process_->arrive(servers_.now() + servers_.plan().latency,
                   [this, connection = connection_] { lost(connection); });
}

void Wire::server_died(std::size_t server) {
  if (state_ == State::up && peer_.server == server && servers_.dice().one_in(2)) reset_commands();
  if (!is_subscribed_ || subscribed_at_.server != server) return;
  const Time noticed = servers_.now() + servers_.dice().mostly_short(2 * second);
  process_->arrive(noticed, [this, connection = subscription_] {
    if (connection == subscription_ && !is_gone()) subscribe();
  });
}

void Wire::heal() {
  up_cut_until = down_cut_until = 0;
  process_->arrive(servers_.now(), [this] {
    if (is_gone()) return;
    const Time soon = servers_.now() + 2 * servers_.plan().latency;
    const bool is_held_up = std::max(up_.last, down_.last) > soon;
    if (state_ != State::up || is_held_up) drop();
    unblock();
    if (!is_subscribed_ || messages_.last > soon) subscribe();
  });
}

}  // namespace holdfast::simulation
