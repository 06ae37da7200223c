// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/placement.hpp"

#include <utility>

namespace holdfast::backends::redis {

Placement::Then Placement::connected(Peer server) {
  commands_ = std::move(server);
  is_connected_ = true;
  return compare();
}

void Placement::disconnected() {
  is_connected_ = false;
  state_ = State::open;
  ++question_;
}

Placement::Then Placement::subscribed(Peer server) {
  messages_ = std::move(server);
  is_subscribed_ = true;
  return compare();
}

void Placement::unsubscribed() {
  is_subscribed_ = false;
  state_ = State::open;
  ++question_;
}

// Run ids that differ are proof enough. Equal ones are not: an address may lead to a proxy that
// answers INFO itself.
Placement::Then Placement::compare() {
  state_ = State::open;
  ++question_;
  if (!is_subscribed_) return Then::nothing;
  if (messages_.is_replica) return turn_down();
  if (!is_connected_) return Then::nothing;
  const bool both_known = !commands_.run_id.empty() && !messages_.run_id.empty();
  if (both_known && commands_.run_id != messages_.run_id) return turn_down();
  return Then::ask;
}

Placement::Then Placement::answered(std::uint64_t question, Answer answer) {
  if (question != question_ || state_ != State::open) return Then::nothing;
  // A question that was asked late says nothing of a subscription that is being made.
  if (!is_connected_ || !is_subscribed_) return Then::nothing;
  switch (answer) {
    case Answer::somebody: state_ = State::proven; break;
    case Answer::refused: state_ = State::refused; break;
    case Answer::nobody: return turn_down();
    case Answer::lost: return Then::ask_later;
  }
  was_settled_ = true;
  return Then::nothing;
}

Placement::Then Placement::turn_down() {
  unsubscribed();
  ++misplaced_;
  if (!was_settled_) ++misplaced_at_first_;
  return Then::subscribe_anew;
}

}  // namespace holdfast::backends::redis
