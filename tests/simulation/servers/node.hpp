// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simulation/server.hpp"

#include <deque>
#include <memory>
#include <vector>

namespace holdfast::simulation {

// What one step of a primary changed and told, as its replicas hear of it.
struct Change {
  std::size_t lock = 0;
  model::LockState state;
  Fence fence = 0;
  std::vector<model::Message> messages;
};

// What a server says of itself to a new connection.
struct Identity {
  std::size_t server = 0;
  std::uint32_t run = 0;      // another one after each restart
  std::uint32_t lineage = 0;  // another one wherever the data may differ
  bool is_primary = false;
  bool is_raised = false;  // the fence counter, in the greeting
};

// One of several servers: what it knows, and who listens to it.
class Node final : public Subscribers {
 public:
  Node(const Time& now, const Plan& plan, Recorder& recorder, std::size_t number)
      : data(now, plan, recorder, *this), now_(now), taken_in_(plan.locks.size()) {
    data.step_clock(plan.servers.ahead_us[number] * microsecond);
  }

  Server data;
  bool is_primary = false;
  std::uint32_t run = 1;
  Time up_at = 0;
  Time hung_until = 0;     // it lives, but does nothing
  Time refuses_until = 0;  // every write that takes memory
  Time stalled_until = 0;  // nothing arrives from its primary
  Time demoted_at = -3600 * second;
  bool must_sync = false;  // it follows another primary, or from another point, than before

  bool is_up() const { return up_at <= now_; }
  bool is_hung() const { return hung_until > now_; }
  bool refuses() const { return refuses_until > now_; }

  // Whoever has subscribed here, as far as this server knows; no other server counts them.
  struct Subscriber {
    history::ProcessId process = 0;
    std::uint32_t connection = 0;
  };
  std::vector<Subscriber> subscribers;
  bool hears(model::ProcessId address) const override;
  bool has_subscriber(history::ProcessId process) const;
  void unsubscribe(Subscriber gone);
  void unsubscribe_all(history::ProcessId process);

  // As a replica: what is on its way from the primary.
  // Gives the time of arrival, which is never before that of an earlier one.
  Time expect(std::shared_ptr<const Change> change, Time arrives);
  // Takes in what has arrived by `when`, and gives the messages.
  std::vector<Told> catch_up(Time when);
  // Puts what it took in where its own steps find it.
  void settle();
  // Begins anew with all that its primary has.
  void sync(const Server& primary);
  bool is_behind() const { return !incoming_.empty(); }
  void forget_incoming() { incoming_.clear(); }
  Time last_arrival() const { return incoming_.empty() ? 0 : incoming_.back().arrives; }
  void restart(Time at);

 private:
  struct Incoming {
    Time arrives = 0;
    std::shared_ptr<const Change> change;
  };

  const Time& now_;
  std::deque<Incoming> incoming_;
  std::vector<std::shared_ptr<const Change>> taken_in_;  // the latest of each lock
  Fence last_fence_ = 0;                                 // of the latest of all
};

}  // namespace holdfast::simulation
