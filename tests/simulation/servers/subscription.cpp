// SPDX-License-Identifier: Apache-2.0
//
// The connection for messages. It counts only while it is at the server of the other one: a server
// passes over the waiters of a process that has not subscribed there.
#include "planted.hpp"
#include "simulation/servers/servers.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::simulation {

namespace {

// A new subscription takes some tries where the address leads to any server.
constexpr Time longest_to_subscribe = 500 * millisecond;

}  // namespace

void Wire::subscribe() {
  const std::uint32_t connection = ++subscription_;
  is_subscribed_ = is_proven_ = false;
  messages_ = {};
  const std::size_t server = servers_.resolve();
  Path path;
  servers_.outside.add(outside_time(arrival(path, up_cut_until)),
                       [this, connection, server] { subscribe_at(connection, server); });
}

void Wire::subscribe_at(std::uint32_t connection, std::size_t server) {
  if (connection != subscription_ || is_gone()) return;
  Node& node = servers_.node(server);
  if (node.is_up() && node.is_hung()) {
    servers_.outside.add(outside_time(node.hung_until),
                         [this, connection, server] { subscribe_at(connection, server); });
    return;
  }
  if (!node.is_up()) {
    const Time at = servers_.now() + servers_.dice().between(5, 100) * millisecond;
    process_->arrive(at, [this, connection] {
      if (connection == subscription_ && !is_gone()) subscribe();
    });
    return;
  }
  node.subscribers.push_back({number_, connection});
  process_->arrive(
      arrival(messages_, down_cut_until),
      [this, connection, peer = Peer{server, node.run}] { subscribed(connection, peer); });
}

void Wire::subscribed(std::uint32_t connection, Peer peer) {
  if (connection != subscription_ || is_gone()) return;
  is_subscribed_ = true;
  subscribed_at_ = peer;
  line_->subscribed_again();
  if (!planted::is(planted::Bug::subscription_on_another_server)) check_subscription();
}

// By its identity, where a server tells it; else the server of the commands says whether it has a
// subscriber for this process.
void Wire::check_subscription() {
  if (state_ != State::up || !is_subscribed_) return;
  if (servers_.plan().servers.tells_who_it_is && subscribed_at_ != peer_) return rebind();
  servers_.outside.add(outside_time(at_server()), [this, connection = connection_, peer = peer_,
                                                   subscription = subscription_] {
    const Node& node = servers_.node(peer.server);
    const bool answers = node.is_up() && node.run == peer.run && !node.is_hung();
    if (connection != connection_ || !answers) return;
    process_->arrive(at_client(),
                     [this, connection, subscription, is_there = node.has_subscriber(number_)] {
                       counted(connection, subscription, is_there);
                     });
  });
}

void Wire::counted(std::uint32_t connection, std::uint32_t subscription, bool is_there) {
  if (connection != connection_ || subscription != subscription_ || is_gone()) return;
  is_proven_ = is_there;
  if (!is_there) rebind();
}

// Only the server that answers commands can grant anything.
bool Wire::is_believed() const {
  return is_proven_ || planted::is(planted::Bug::subscription_on_another_server) ||
         planted::is(planted::Bug::subscription_not_rebound_after_failover);
}

void Wire::rebind() {
  servers_.recorder().fault(What::unreachable, number_, servers_.now() + longest_to_subscribe);
  leave(subscription_, subscribed_at_);
  is_subscribed_ = is_proven_ = false;
  const std::uint32_t connection = ++subscription_;
  const Time at = servers_.now() + servers_.dice().between(1, 20) * millisecond;
  process_->arrive(at, [this, connection] {
    if (connection == subscription_ && !is_gone()) subscribe();
  });
}

void Wire::leave(std::uint32_t connection, Peer peer) {
  Path path;
  servers_.outside.add(outside_time(arrival(path, up_cut_until)), [this, connection, peer] {
    Node& node = servers_.node(peer.server);
    if (node.run == peer.run) node.unsubscribe({number_, connection});
  });
}

void Wire::reset_subscription() {
  const Time at = servers_.now() + servers_.plan().latency;
  servers_.recorder().fault(What::unreachable, number_, at + longest_to_subscribe);
  process_->arrive(at, [this, connection = subscription_] {
    if (connection != subscription_ || is_gone()) return;
    if (is_subscribed_) leave(connection, subscribed_at_);
    subscribe();
  });
}

void Wire::tell(std::uint32_t subscription, Told told) {
  process_->arrive(arrival(messages_, down_cut_until),
                   [this, subscription, told = std::move(told)]() mutable {
                     if (subscription != subscription_ || is_gone()) return;
                     if (!is_believed()) told.message.grant.reset();
                     line_->tell(servers_.plan().locks[told.lock].name, told.message);
                   });
}

}  // namespace holdfast::simulation
