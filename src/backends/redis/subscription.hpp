// SPDX-License-Identifier: Apache-2.0
//
// The subscription of a process, on the server of its command connection: see Placement.
#pragma once

#include "backends/redis/placement.hpp"
#include "backends/redis/server.hpp"
#include "net/resp/subscriber.hpp"
#include "runtime/event.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace holdfast::backends::redis {

class Subscription : public std::enable_shared_from_this<Subscription> {
 public:
  // All on the runtime's thread.
  struct Events {
    std::function<void(std::string_view channel, const redisReply& payload)> message;
    // Messages may have been missed: they come from now on. Zero: the subscription ended.
    std::function<void(std::uint64_t client_id)> subscribed;
  };

  // The first channel is the process' own.
  Subscription(std::shared_ptr<Server> server, net::resp::Endpoint endpoint,
               std::vector<std::string> channels);
  // Once, before `start`.
  void prepare(Events events);
  void start() { subscriber_->start(); }

  // Of the command connection, on the runtime's thread.
  void connected(const Placement::Peer& server);
  void disconnected();

  // The messages come from the server that answers commands.
  bool is_proven() const;
  // Waits until that is so, or cannot be found out. Errors: unavailable, with the reason.
  Task<Result<void>> settled(runtime::LocalTime deadline);
  // What an operator should know, one sentence each.
  std::vector<std::string> trouble() const;

 private:
  using Then = Placement::Then;

  void subscribed(std::uint64_t client_id, const std::vector<net::resp::Reply>& answers);
  void dropped();
  void go_on(Then then);
  void leave_server();
  void ask();
  void answered(std::uint64_t question, const Result<net::resp::Reply>& reply);
  std::shared_ptr<runtime::Event> wait_for_proof();

  const std::shared_ptr<Server> server_;
  const net::resp::Endpoint endpoint_;
  const std::vector<std::string> channels_;
  Events events_;
  std::unique_ptr<net::resp::Subscriber> subscriber_;

  mutable std::mutex mutex_;
  Placement placement_;                                   // guarded by mutex_
  bool has_warned_ = false;                               // since the last proof; guarded by mutex_
  std::vector<std::shared_ptr<runtime::Event>> waiting_;  // guarded by mutex_
};

}  // namespace holdfast::backends::redis
