// SPDX-License-Identifier: Apache-2.0
//
// What stands between the clients and the upstream: the request is looked at, the store is asked
// about its fence, and it waits for its turn.
#pragma once

#include "client/core.hpp"
#include "guard/exchange.hpp"
#include "net/http/service.hpp"
#include "recipes/fence_guard.hpp"

namespace holdfast::guard {

// One for each worker, on its thread.
class Passage final : public net::http::Service {
 public:
  Passage(const Options& options, std::shared_ptr<client::Core> core, Lanes& lanes)
      : options_(options), core_(std::move(core)), lanes_(lanes) {}

  // Before the first connection.
  void attach(boost::asio::io_context& context) {
    pool_ = std::make_shared<Pool>(context, options_.upstream);
  }
  Pool& pool() { return *pool_; }

  Task<net::http::Response> handle(const net::http::Request& request) override;
  net::http::Response refuse(const net::http::RequestReader::Refusal& refusal,
                             const net::http::Peer& peer) override;

 private:
  struct Turn;
  struct BackOnThread;
  Task<net::http::Response> ask_first(Errand errand, recipes::FenceQuestion question,
                                      Task<Result<FenceCheck>> asking);
  Task<net::http::Response> take_turn(Errand errand, recipes::FenceQuestion question);

  const Options& options_;
  const std::shared_ptr<client::Core> core_;
  Lanes& lanes_;
  std::shared_ptr<Pool> pool_;
};

}  // namespace holdfast::guard
