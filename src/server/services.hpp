// SPDX-License-Identifier: Apache-2.0
//
// What every endpoint works with. None of it is the state of a lock: that is in the store alone.
#pragma once

#include "client/core.hpp"
#include "server/auth/request_rate.hpp"
#include "server/auth/tokens.hpp"
#include "server/events/hub.hpp"
#include "server/journal.hpp"
#include "server/locks/waiting_room.hpp"
#include "server/options.hpp"

#include <atomic>
#include <memory>
#include <mutex>

namespace holdfast::server {

class Services {
 public:
  Services(ServerOptions options, std::shared_ptr<client::Core> core);
  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;

  const ServerOptions& options() const { return options_; }
  client::Core& core() { return *core_; }
  const std::shared_ptr<client::Core>& shared_core() const { return core_; }

  // Null while the server asks for no tokens.
  std::shared_ptr<const Tokens> tokens() const;
  void set_tokens(std::shared_ptr<const Tokens> tokens);

  // Tells the requests of this server, and of the others, apart.
  std::uint64_t next_request_id();

  WaitingRoom waiting;
  RequestRates rates;
  EventHub events;
  Journal journal{events};
  std::atomic<bool> is_draining{false};

 private:
  const ServerOptions options_;
  const std::shared_ptr<client::Core> core_;
  std::atomic<std::uint64_t> request_id_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Tokens> tokens_;  // guarded by mutex_
};

}  // namespace holdfast::server
