// SPDX-License-Identifier: Apache-2.0
//
// What every endpoint works with. None of it is the state of a lock: that is in the store alone.
//
// The parts are declared here and no more: whoever uses one includes its header.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>

namespace holdfast::client {
class Core;
}

namespace holdfast::forrst {
class Service;
}

namespace holdfast::server::patterns {
struct Voters;
}

namespace holdfast::server {

class AuditLog;
class EventHub;
class EventStreams;
class Journal;
class RateBoard;
class ReaderThread;
class RequestRates;
class Sessions;
class StatsHistory;
class StoreProbe;
class StoreStreams;
class Timelines;
class Tokens;
class Upstreams;
class WaitingRoom;
class Watcher;
struct Gauges;
struct Metrics;
struct ServerOptions;

class Services {
  struct Parts;  // all of them, in the order in which they are made
  const std::unique_ptr<Parts> parts_;

 public:
  Services(ServerOptions options, std::shared_ptr<client::Core> core,
           std::unique_ptr<AuditLog> audit);
  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;
  ~Services();
  // Whatever is done by itself now and then is done no more.
  void rest();

  const ServerOptions& options() const { return options_; }
  client::Core& core() { return *core_; }
  const std::shared_ptr<client::Core>& shared_core() const { return core_; }
  Metrics& metrics() { return metrics_; }
  AuditLog& audit() { return audit_; }

  // Null while the server asks for no tokens.
  std::shared_ptr<const Tokens> tokens() const;
  void set_tokens(std::shared_ptr<const Tokens> tokens);

  // Tells the requests of this server, and of the others, apart.
  std::uint64_t next_request_id();
  Gauges gauges() const;

  WaitingRoom& waiting;
  RequestRates& rates;
  Timelines& timelines;
  EventHub& events;
  EventStreams& event_streams;
  Journal& journal;
  ReaderThread& reader;
  Watcher& watcher;
  Sessions& sessions;
  StoreProbe& probe;
  RateBoard& rate_board;
  StatsHistory& history;
  StoreStreams& store_streams;
  Upstreams& upstreams;

  // These are set before the first request.
  patterns::Voters& voters;
  std::shared_ptr<client::Core>& n8n_core;
  std::shared_ptr<client::Core>& forrst_core;
  std::function<std::size_t()>& count_connections;
  std::shared_ptr<const forrst::Service>& forrst;

  std::atomic<bool>& is_draining;
  std::stop_source& draining;  // fires with it: waits end
  // Fires when the time to drain is over: what outlives its client has to end now.
  std::stop_source& ending;
  // Operations that go on without their client; the server waits for them.
  std::atomic<std::size_t>& under_way;

 private:
  const ServerOptions& options_;
  const std::shared_ptr<client::Core>& core_;
  Metrics& metrics_;
  AuditLog& audit_;
};

}  // namespace holdfast::server
