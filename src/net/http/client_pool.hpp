// SPDX-License-Identifier: Apache-2.0
//
// The connections of a Client and the requests that wait for one.
#pragma once

#include "net/http/answer_time.hpp"
#include "net/http/client_connection.hpp"
#include "runtime/event.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace holdfast::net::http {

// One request and what becomes of it. Touched on the loop's thread, until `done` is notified.
struct Exchange {
  explicit Exchange(std::shared_ptr<runtime::Runtime> runtime) : done(std::move(runtime)) {}

  std::string bytes;
  bool is_head = false;
  bool repeatable = false;
  runtime::LocalTime deadline{};
  std::function<void(bool is_sure)> settled;
  runtime::LocalTime sent_at{};
  bool was_sent = false;       // on whatever connection
  bool needs_a_fresh = false;  // connection: a kept one was dead
  bool is_over = false;
  // While it is under way there, also after it was given up.
  std::shared_ptr<ClientConnection> connection;
  Result<ClientResponse> result = fail(Errc::unavailable, "not sent");
  runtime::Event done;
};

// On the loop's thread only.
class ClientPool : public std::enable_shared_from_this<ClientPool> {
 public:
  ClientPool(std::shared_ptr<runtime::Runtime> runtime, Origin origin,
             std::function<void()> broken);

  void begin(std::shared_ptr<Exchange> exchange);
  // Ends it if it is not over: `unsent` if surely nothing left, else outcome_unknown.
  void give_up(const std::shared_ptr<Exchange>& exchange, Errc unsent, std::string_view why);
  void close();

  const Origin& origin() const { return origin_; }
  const std::shared_ptr<runtime::Runtime>& runtime() const { return runtime_; }

 private:
  using ExchangePtr = std::shared_ptr<Exchange>;
  using ConnectionPtr = std::shared_ptr<ClientConnection>;

  bool place(const ExchangePtr& exchange);
  void connect_for(ExchangePtr exchange);
  void send_on(const ConnectionPtr& connection, const ExchangePtr& exchange);
  void ended(const ConnectionPtr& connection, const ExchangePtr& exchange,
             ClientConnection::End end);
  // The connection has nothing to do.
  void put_back(const ConnectionPtr& connection);
  void remove(const ConnectionPtr& connection);
  void serve_waiting();
  bool may_make_it(const Exchange& exchange) const;
  void finish(const ExchangePtr& exchange, Result<ClientResponse> result);
  // Nothing of it is under way any more.
  void settle(Exchange& exchange, bool was_answered);
  void broke() const;
  // Connections that fell silent are closed.
  void watch();
  void tick();
  Error failure(const Exchange& exchange, Errc unsent, std::string_view why) const;

  const std::shared_ptr<runtime::Runtime> runtime_;
  const Origin origin_;
  const std::function<void()> broken_;
  std::vector<ConnectionPtr> connections_;  // all, also those that are being made
  std::vector<ConnectionPtr> idle_;         // the one used last at the end
  std::deque<ExchangePtr> waiting_;
  std::map<ConnectionPtr, ExchangePtr> under_way_;
  AnswerTime answer_time_;
  bool is_watching_ = false;
  bool is_closed_ = false;
};

}  // namespace holdfast::net::http
