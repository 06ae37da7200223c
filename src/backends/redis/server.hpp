// SPDX-License-Identifier: Apache-2.0
//
// One connection for commands, with an answer for every error that the server can give, and a
// watch on which server it is.
#pragma once

#include "backends/redis/options.hpp"
#include "backends/redis/placement.hpp"
#include "backends/redis/scripts.hpp"
#include "backends/redis/server_identity.hpp"
#include "net/resp/connection.hpp"
#include "store/store.hpp"

#include <atomic>
#include <functional>
#include <mutex>

namespace holdfast::backends::redis {

class Server : public std::enable_shared_from_this<Server> {
 public:
  // All on the runtime's thread.
  struct Events {
    // Sent on every new connection before anything else.
    std::function<std::vector<std::string>()> greeting;
    // A new connection, to a server that was not turned down; and its end.
    std::function<void(const Placement::Peer&)> connected;
    std::function<void()> disconnected;
    // Connected anew, or another server answers: what was granted may be forgotten.
    std::function<void()> changed;
    // A waiter was told that a program without messages of ours is in its way.
    std::function<void(const LockName&, model::RequestId)> behind_a_stranger;
  };

  Server(std::shared_ptr<runtime::Runtime> runtime, const Options& options);
  // Once, before `start`.
  void prepare(Events events);
  // Connects. Once. Events may come before it returns.
  void start() { connection_->start(); }

  // One step.
  Task<Result<store::Reply>> apply(store::Request request);
  // Any other command, given by its RESP bytes. Error replies are errors here.
  Task<Result<net::resp::Reply>> ask(std::string command, runtime::LocalTime deadline,
                                     unsigned replies = 1);

  Task<Result<void>> connected(runtime::LocalTime deadline);
  // Which connection it is by now. On the runtime's thread, right after a reply: the one it came
  // by.
  std::uint64_t connection_number() const { return connections_.load(); }
  store::Standing standing() const;
  const Dialect& dialect() const { return dialect_; }
  const std::string& peer() const { return peer_; }
  const std::shared_ptr<runtime::Runtime>& runtime() const { return runtime_; }

 private:
  std::vector<std::string> greeting();
  void greeted(const std::vector<net::resp::Reply>& replies);
  // False if the server was turned down.
  bool identified(std::string_view info, bool is_new_connection);
  // Until it was done, fences are compared with the clock in each grant.
  void raise_fences();
  void raised(const net::resp::Reply& reply);
  // With mutex_ held.
  void note_standing(const ServerIdentity& before, const ServerIdentity& now);
  void look_again_later();
  // True if it makes sense to ask again: the error passes, and there is time.
  Task<bool> let_pass(Error error, unsigned failures, runtime::LocalTime deadline, bool reconnect);

  const std::shared_ptr<runtime::Runtime> runtime_;
  const net::resp::Endpoint endpoint_;
  const std::string peer_;
  const Dialect dialect_;
  const bool replicas_count_;
  const bool always_compares_;
  const Scripts scripts_;
  const std::string raise_;  // the command that raises the fence counter to the clock
  Events events_;
  bool is_raised_ = false;  // on this connection; of the runtime's thread
  std::atomic<bool> look_is_due_ = false;
  std::atomic<bool> has_answered_ = false;  // a script, since the last look
  std::atomic<std::uint64_t> connections_ = 0;

  mutable std::mutex mutex_;
  ServerIdentity identity_;   // guarded by mutex_
  store::Standing standing_;  // guarded by mutex_
  std::unique_ptr<net::resp::Connection> connection_;
};

}  // namespace holdfast::backends::redis
