// SPDX-License-Identifier: Apache-2.0
#include "server/services.hpp"

#include "server/metrics/measured_store.hpp"
#include "server/wall_clock.hpp"

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

Services::Services(ServerOptions options, std::shared_ptr<client::Core> core,
                   std::unique_ptr<AuditLog> audit)
    : options_(std::move(options)),
      core_(measured_core(*core, metrics_)),
      audit_(std::move(audit)),
      request_id_(core_->runtime().random()),
      waiting(options_.limits.max_waiters_per_name, options_.limits.max_waiters),
      rates(options_.limits.token_requests_per_s),
      events(options_.limits.kept_events, first_event_id(wall_now()), &timelines),
      event_streams(events, core_->shared_runtime()),
      observer(events, {.interval = observation_interval,
                        .on_seen = [this](const Event& event) { count_seen(metrics_, event); }}),
      journal(observer, *audit_, metrics_),
      watcher(std::make_shared<Watcher>(
          Watcher::Parts{core_, events, observer, journal, waiting, options_})),
      sessions(std::make_shared<Sessions>(core_, journal, options_.limits)),
      probe(core_),
      history(std::make_shared<StatsHistory>()),
      upstreams(core_->shared_runtime(), options_.patterns.upstreams) {
  core_->store().on_change([weak = std::weak_ptr(watcher)] {
    if (const auto there = weak.lock()) there->store_changed();
  });
  watcher->start();
  sessions->start();
  history->start(core_->shared_runtime(), [this] { return sample(); });
}

Sample Services::sample() const {
  Sample now{.at = wall_now(),
             .lost = metrics_.lost.value(),
             .expired = metrics_.expired_seen.value(),
             .store_failures = failures(metrics_.store->commands),
             .waits = metrics_.wait_time.counts(),
             .store = metrics_.store->latency.counts()};
  for (const auto& kind : metrics_.acquisitions) {
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

Services::~Services() {
  history->stop();
  sessions->stop();
  watcher->stop();
}

std::uint64_t Services::next_request_id() {
  const auto id = request_id_.fetch_add(1, std::memory_order_relaxed);
  return id == 0 ? 1 : id;
}

std::shared_ptr<const Tokens> Services::tokens() const {
  const std::lock_guard lock(mutex_);
  return tokens_;
}

void Services::set_tokens(std::shared_ptr<const Tokens> tokens) {
  const std::lock_guard lock(mutex_);
  tokens_ = std::move(tokens);
}

Gauges Services::gauges() const {
  Gauges gauges{.connections = count_connections ? count_connections() : 0,
                .waiters = waiting.waiters(),
                .event_streams = events.subscribers(),
                .sessions = sessions->count(),
                .deadlocks = watcher->deadlocks().size(),
                .store_up = watcher->store_answers(),
                .audit_dropped = audit_->stats().dropped};
  if (watcher->has_looked()) {
    const auto seen = observer.observed();
    gauges.held = seen.held;
    gauges.waiters_on_store = seen.waiters;
  }
  return gauges;
}

}  // namespace holdfast::server
