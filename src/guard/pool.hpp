// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "guard/wire.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/intrusive/list.hpp>

namespace holdfast::guard {

// The connections of one worker to the upstream. On its thread only.
class Pool {
 public:
  Pool(boost::asio::io_context& context, const net::http::Origin& origin);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  boost::asio::io_context& context() { return context_; }

  // One that was used before, the last one first; null if there is none.
  std::shared_ptr<Wire> take();
  // A new one, not connected yet.
  std::shared_ptr<Wire> make();
  // For the next exchange.
  void give_back(std::shared_ptr<Wire> wire);
  void close();
  bool is_closed() const { return is_closed_; }

  // For wires.
  void joined(Wire& wire);
  void left(Wire& wire);
  void drop(Wire& wire);

 private:
  void tick();

  boost::asio::io_context& context_;
  const net::http::Origin& origin_;
  boost::asio::steady_timer timer_;
  boost::intrusive::list<Wire> all_;
  std::vector<std::shared_ptr<Wire>> idle_;
  bool is_ticking_ = false;
  bool is_closed_ = false;
};

}  // namespace holdfast::guard
