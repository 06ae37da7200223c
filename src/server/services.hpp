// SPDX-License-Identifier: Apache-2.0
//
// What every endpoint works with. None of it is the state of a lock: that is in the store alone.
#pragma once

#include <holdfast/forrst/service.hpp>

#include "client/core.hpp"
#include "server/auth/request_rate.hpp"
#include "server/auth/tokens.hpp"
#include "server/endpoints/patterns/voters.hpp"
#include "server/events/hub.hpp"
#include "server/events/streams.hpp"
#include "server/events/timelines.hpp"
#include "server/journal.hpp"
#include "server/locks/waiting_room.hpp"
#include "server/metrics/rate_board.hpp"
#include "server/metrics/stats_history.hpp"
#include "server/options.hpp"
#include "server/reader_thread.hpp"
#include "server/sessions/sessions.hpp"
#include "server/store_probe.hpp"
#include "server/store_streams.hpp"
#include "server/upstreams.hpp"
#include "server/watch/watcher.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>

namespace holdfast::server {

class Services {
 public:
  Services(ServerOptions options, std::shared_ptr<client::Core> core,
           std::unique_ptr<AuditLog> audit);
  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;
  ~Services();

  const ServerOptions& options() const { return options_; }
  client::Core& core() { return *core_; }
  const std::shared_ptr<client::Core>& shared_core() const { return core_; }

  // Null while the server asks for no tokens.
  std::shared_ptr<const Tokens> tokens() const;
  void set_tokens(std::shared_ptr<const Tokens> tokens);

  // Tells the requests of this server, and of the others, apart.
  std::uint64_t next_request_id();
  Gauges gauges() const;

 private:
  Sample sample() const;

  const ServerOptions options_;
  Metrics metrics_;
  const std::shared_ptr<client::Core> core_;
  std::unique_ptr<AuditLog> audit_;
  std::atomic<std::uint64_t> request_id_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Tokens> tokens_;  // guarded by mutex_

 public:
  WaitingRoom waiting;
  RequestRates rates;
  Timelines timelines;
  EventHub events;
  EventStreams event_streams;
  Observer observer;
  Journal journal;
  ReaderThread reader;
  std::shared_ptr<Watcher> watcher;
  std::shared_ptr<Sessions> sessions;
  StoreProbe probe;
  RateBoard rate_board;
  std::shared_ptr<StatsHistory> history;
  StoreStreams store_streams{core_, waiting, options_.limits.max_event_streams};
  Upstreams upstreams;
  patterns::Voters voters;                    // set before the first request
  std::shared_ptr<client::Core> n8n_core;     // the same
  std::shared_ptr<client::Core> forrst_core;  // the same
  Metrics& metrics() { return metrics_; }
  AuditLog& audit() { return *audit_; }
  std::atomic<bool> is_draining{false};
  std::stop_source draining;  // fires with it: waits end
  // Fires when the time to drain is over: what outlives its client has to end now.
  std::stop_source ending;
  // Operations that go on without their client; the server waits for them.
  std::atomic<std::size_t> under_way{0};
  std::function<std::size_t()> count_connections;  // set before the first request
  // The same. Last, so that it goes first: its threads work with all of the above.
  std::shared_ptr<const forrst::Service> forrst;
};

}  // namespace holdfast::server
