// SPDX-License-Identifier: Apache-2.0
//
// Whether a client's subscription is on the server of its command connection. Only that server
// knows who listens, and only its messages tell of grants that it made; a balanced address or a
// failover that keeps connections can put the two connections on different servers. No socket
// here: events go in, and what to do next comes out.
#pragma once

#include <cstdint>
#include <string>

namespace holdfast::backends::redis {

class Placement {
 public:
  // What a server said of itself when it was greeted.
  struct Peer {
    std::string run_id;       // empty: this user may not ask
    bool is_replica = false;  // false also where it is not known
  };
  enum class Then : std::uint8_t {
    nothing,
    ask,             // over the command connection, how many listen to our channel
    ask_later,       // the same, after a pause
    subscribe_anew,  // the subscription is on another server: drop it and make a new one
  };
  // To the question of how many listen to our channel.
  enum class Answer : std::uint8_t { somebody, nobody, refused, lost };

  // The command connection was greeted, and its server was not turned down.
  Then connected(Peer server);
  void disconnected();
  // Every channel is confirmed.
  Then subscribed(Peer server);
  void unsubscribed();
  // An answer to a question of another number than `question` changes nothing.
  Then answered(std::uint64_t question, Answer answer);

  // The number of the question to ask now. It changes with every connection.
  std::uint64_t question() const { return question_; }
  // The server that answers commands is the one whose messages arrive: its grants can be believed.
  bool is_proven() const { return state_ == State::proven; }
  // Proven, or not to be proven because this user may not ask: then scripts send no grants.
  bool is_settled() const { return is_proven() || state_ == State::refused; }
  bool is_connected() const { return is_connected_; }
  // Subscriptions that were found on another server, and how many of them before the first proof.
  unsigned misplaced() const { return misplaced_; }
  unsigned misplaced_at_first() const { return misplaced_at_first_; }

 private:
  enum class State : std::uint8_t { open, proven, refused };

  Then compare();
  Then turn_down();

  Peer commands_;
  Peer messages_;
  bool is_connected_ = false;
  bool is_subscribed_ = false;
  bool was_settled_ = false;
  State state_ = State::open;
  std::uint64_t question_ = 0;
  unsigned misplaced_ = 0;
  unsigned misplaced_at_first_ = 0;
};

}  // namespace holdfast::backends::redis
