// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simulation/line.hpp"
#include "simulation/servers/node.hpp"

#include <memory>
#include <vector>

namespace holdfast::simulation {

class Servers;

// The two connections of one process, to whichever servers its address leads: one for commands,
// which insists on a primary, and one for messages, which belongs to the server of the first one.
// What it does is what the Redis store does.
class Wire {
 public:
  Wire(Servers& servers, history::ProcessId number, std::shared_ptr<Process> process,
       std::shared_ptr<Line> line);

  void start();
  void send(CallId call, store::Request request);
  bool was_sent(CallId call) const;
  void heard_nothing(CallId call);

  Process& process() const { return *process_; }
  bool is_gone() const { return line_->is_gone(); }

  // The network's side. Nothing passes in a direction that is cut; it arrives when that is over.
  Time up_cut_until = 0;
  Time down_cut_until = 0;
  void tell(std::uint32_t subscription, Told told);
  // The client learns of it after a moment.
  void reset_commands();
  void reset_subscription();
  void server_died(std::size_t server);
  // What was held up is gone.
  void heal();

 private:
  enum class State : std::uint8_t { connecting, up, backing_off };
  struct Command {
    CallId call = 0;
    Time sent = 0;
    Time proven = 0;  // until when its connection was known to lead to a primary
    store::Request request;
    bool compares = false;  // a lone grant looks at the clock
  };
  using CommandPtr = std::shared_ptr<Command>;
  // The server at the other end of a connection, which is another one after a restart.
  struct Peer {
    std::size_t server = 0;
    std::uint32_t run = 0;
    bool operator==(const Peer&) const = default;
  };
  // Arrivals of one connection in one direction keep their order.
  struct Path {
    Time last = 0;
  };

  Time arrival(Path& path, Time cut_until);
  Time at_server() { return arrival(up_, up_cut_until); }
  Time at_client() { return arrival(down_, down_cut_until); }

  // Commands.
  void connect();
  void knock(std::uint32_t connection, std::size_t server);
  void refused(std::uint32_t connection);
  void greeted(std::uint32_t connection, const Identity& identity);
  void transmit(CommandPtr command);
  void pass_on(const CommandPtr& command);
  void unblock();
  void reach(std::uint32_t connection, Peer peer, const CommandPtr& command);
  void answer(std::uint32_t connection, const CommandPtr& command, Result<store::Reply> reply);
  void answered(std::uint32_t connection, const CommandPtr& command, Result<store::Reply> reply);
  void turned_away(std::uint32_t connection, const CommandPtr& command);
  void lost(std::uint32_t connection);
  void drop(CommandPtr again = nullptr);
  void look_later();
  void look();
  void looked(std::uint32_t connection, const Identity& identity);
  bool is_late_copy(std::uint32_t connection) const;
  void note_answer_of_bug(const Command& command, const Result<store::Reply>& reply);

  // Messages.
  void subscribe();
  void subscribe_at(std::uint32_t connection, std::size_t server);
  void subscribed(std::uint32_t connection, Peer peer);
  void check_subscription();
  void counted(std::uint32_t connection, std::uint32_t subscription, bool is_there);
  bool is_believed() const;
  void rebind();
  void leave(std::uint32_t connection, Peer peer);

  Servers& servers_;
  const history::ProcessId number_;
  const std::shared_ptr<Process> process_;
  const std::shared_ptr<Line> line_;

  State state_ = State::connecting;
  std::uint32_t connection_ = 0;
  std::uint32_t greetings_ = 0;
  Peer peer_;
  std::uint32_t lineage_ = 0;
  bool is_raised_ = false;    // the counter of this server, by this connection
  bool must_compare_ = true;  // of a bug only: the flag that stood for that once
  bool is_watched_ = false;
  Time last_heard_ = 0;
  Path up_;
  Path down_;
  std::vector<CommandPtr> waiting_;  // for a connection
  std::vector<CommandPtr> in_flight_;
  std::vector<CommandPtr> unsent_;  // the socket takes no more

  std::uint32_t subscription_ = 0;
  bool is_subscribed_ = false;
  Peer subscribed_at_;
  bool is_proven_ = false;  // at the server of the commands
  Path messages_;
};

}  // namespace holdfast::simulation
