// SPDX-License-Identifier: Apache-2.0
#include "server/services.hpp"

#include <holdfast/forrst/service.hpp>

#include "client/core.hpp"
#include "server/audit/audit_log.hpp"
#include "server/auth/request_rate.hpp"
#include "server/auth/tokens.hpp"
#include "server/endpoints/patterns/voters.hpp"
#include "server/events/hub.hpp"
#include "server/events/observer.hpp"
#include "server/events/streams.hpp"
#include "server/events/timelines.hpp"
#include "server/journal.hpp"
#include "server/locks/waiting_room.hpp"
#include "server/metrics/measured_store.hpp"
#include "server/metrics/metrics.hpp"
#include "server/metrics/rate_board.hpp"
#include "server/metrics/stats_history.hpp"
#include "server/options.hpp"
#include "server/reader_thread.hpp"
#include "server/sessions/sessions.hpp"
#include "server/store_probe.hpp"
#include "server/store_streams.hpp"
#include "server/upstreams.hpp"
#include "server/wall_clock.hpp"
#include "server/watch/watcher.hpp"

#include <mutex>

namespace holdfast::server {

namespace {

constexpr std::chrono::milliseconds observation_interval{500};

// Whatever else a store answers, it has answered.
std::uint64_t failures(const ByOutcome& commands) {
  std::uint64_t count = 0;
  for (const auto code :
       {Errc::unavailable, Errc::outcome_unknown, Errc::quorum_not_reached, Errc::not_replicated}) {
    count += commands.of(code).value();
  }
  return count;
}

// What other processes did, as far as it was seen.
void count_seen(Metrics& metrics, const Event& event) {
  if (event.type == EventType::expired) metrics.expired_seen.add();
  if (event.waited) metrics.contention.waited(event.name, *event.waited);
}

std::shared_ptr<client::Core> measured_core(const client::Core& core, const Metrics& metrics) {
  return client::make_core(measured(core.shared_store(), metrics.store), core.shared_runtime());
}

}  // namespace

// Each part may use those above it, and goes before them.
struct Services::Parts {
  Parts(ServerOptions chosen, const client::Core& plain_core, std::unique_ptr<AuditLog> log);
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  ~Parts();

  void rest() const;
  Sample sample() const;

  const ServerOptions options;
  Metrics metrics;
  const std::shared_ptr<client::Core> core;
  const std::unique_ptr<AuditLog> audit;
  std::atomic<std::uint64_t> request_id;
  mutable std::mutex mutex;
  std::shared_ptr<const Tokens> tokens;  // guarded by mutex
  WaitingRoom waiting;
  RequestRates rates;
  Timelines timelines;
  EventHub events;
  EventStreams event_streams;
  Observer observer;
  Journal journal;
  ReaderThread reader;
  const std::shared_ptr<Watcher> watcher;
  const std::shared_ptr<Sessions> sessions;
  StoreProbe probe;
  RateBoard rate_board;
  const std::shared_ptr<StatsHistory> history;
  StoreStreams store_streams;
  Upstreams upstreams;
  patterns::Voters voters;
  std::shared_ptr<client::Core> n8n_core;
  std::shared_ptr<client::Core> forrst_core;
  std::atomic<bool> is_draining{false};
  std::stop_source draining;
  std::stop_source ending;
  std::atomic<std::size_t> under_way{0};
  std::function<std::size_t()> count_connections;
  // Last, so that it goes first: its threads work with all of the above.
  std::shared_ptr<const forrst::Service> forrst;
};

Services::Parts::Parts(ServerOptions chosen, const client::Core& plain_core,
                       std::unique_ptr<AuditLog> log)
    : options(std::move(chosen)),
      core(measured_core(plain_core, metrics)),
      audit(std::move(log)),
      request_id(core->runtime().random()),
      waiting(options.limits.max_waiters_per_name, options.limits.max_waiters),
      rates(options.limits.token_requests_per_s),
      events(options.limits.kept_events, first_event_id(wall_now()), &timelines),
      event_streams(events, core->shared_runtime()),
      observer(events, {.interval = observation_interval,
                        .on_seen = [this](const Event& event) { count_seen(metrics, event); }}),
      journal(observer, *audit, metrics),
      watcher(std::make_shared<Watcher>(
          Watcher::Parts{core, events, observer, journal, waiting, options})),
      sessions(std::make_shared<Sessions>(core, journal, options.limits)),
      probe(core),
      history(std::make_shared<StatsHistory>()),
      store_streams(core, waiting, options.limits.max_event_streams),
      upstreams(core->shared_runtime(), options.patterns.upstreams) {
  core->store().on_change([weak = std::weak_ptr(watcher)] {
    if (const auto there = weak.lock()) there->store_changed();
  });
  watcher->start();
  sessions->start();
  history->start(core->shared_runtime(), [this] { return sample(); });
}

Services::Parts::~Parts() { rest(); }

void Services::Parts::rest() const {
  history->stop();
  sessions->stop();
  watcher->stop();
}

Sample Services::Parts::sample() const {
  Sample now{.at = wall_now(),
             .lost = metrics.lost.value(),
             .expired = metrics.expired_seen.value(),
             .store_failures = failures(metrics.store->commands),
             .waits = metrics.wait_time.counts(),
             .store = metrics.store->latency.counts()};
  for (const auto& kind : metrics.acquisitions) {
    now.acquired += kind.ok().value();
    now.refused += kind.of(Errc::busy).value() + kind.of(Errc::timed_out).value();
  }
  if (watcher->has_looked()) {
    const auto seen = observer.observed();
    now.held = seen.held;
    now.waiters = seen.waiters;
  }
  return now;
}

Services::Services(ServerOptions options, std::shared_ptr<client::Core> core,
                   std::unique_ptr<AuditLog> audit)
    : parts_(std::make_unique<Parts>(std::move(options), *core, std::move(audit))),
      waiting(parts_->waiting),
      rates(parts_->rates),
      timelines(parts_->timelines),
      events(parts_->events),
      event_streams(parts_->event_streams),
      journal(parts_->journal),
      reader(parts_->reader),
      watcher(*parts_->watcher),
      sessions(*parts_->sessions),
      probe(parts_->probe),
      rate_board(parts_->rate_board),
      history(*parts_->history),
      store_streams(parts_->store_streams),
      upstreams(parts_->upstreams),
      voters(parts_->voters),
      n8n_core(parts_->n8n_core),
      forrst_core(parts_->forrst_core),
      count_connections(parts_->count_connections),
      forrst(parts_->forrst),
      is_draining(parts_->is_draining),
      draining(parts_->draining),
      ending(parts_->ending),
      under_way(parts_->under_way),
      options_(parts_->options),
      core_(parts_->core),
      metrics_(parts_->metrics),
      audit_(*parts_->audit) {}

Services::~Services() = default;

void Services::rest() { parts_->rest(); }

std::uint64_t Services::next_request_id() {
  const auto id = parts_->request_id.fetch_add(1, std::memory_order_relaxed);
  return id == 0 ? 1 : id;
}

std::shared_ptr<const Tokens> Services::tokens() const {
  const std::lock_guard lock(parts_->mutex);
  return parts_->tokens;
}

void Services::set_tokens(std::shared_ptr<const Tokens> tokens) {
  const std::lock_guard lock(parts_->mutex);
  parts_->tokens = std::move(tokens);
}

Gauges Services::gauges() const {
  Gauges gauges{.connections = count_connections ? count_connections() : 0,
                .waiters = waiting.waiters(),
                .event_streams = events.subscribers(),
                .sessions = sessions.count(),
                .deadlocks = watcher.deadlocks().size(),
                .store_up = watcher.store_answers(),
                .audit_dropped = audit_.stats().dropped};
  if (watcher.has_looked()) {
    const auto seen = parts_->observer.observed();
    gauges.held = seen.held;
    gauges.waiters_on_store = seen.waiters;
  }
  return gauges;
}

}  // namespace holdfast::server
