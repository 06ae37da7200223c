// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/metrics.hpp"

#include <holdfast/forrst/fault.hpp>

#include "text/error_codes.hpp"
#include "text/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::server {

namespace {

// A series that never moved is left out, except for success: a rate needs a beginning.
void samples(Exposition& out, std::string_view labels, const ByOutcome& counters) {
  const auto comma = labels.empty() ? "" : ",";
  out.sample(fmt::format("{}{}outcome=\"ok\"", labels, comma), counters.ok());
  for (const auto& row : text::error_table()) {
    const auto& counter = counters.of(row.code);
    if (counter.value() == 0) continue;
    out.sample(fmt::format("{}{}outcome=\"{}\"", labels, comma, row.word), counter);
  }
}

void write_locks(Exposition& out, const Metrics& metrics) {
  out.begin("acquisitions_total", "counter", "Acquires through this server, by kind and outcome.");
  for (std::size_t at = 0; at < kind_count; ++at) {
    const auto kind = static_cast<Kind>(at + 1);
    samples(out, fmt::format("kind=\"{}\"", text::to_word(kind)), metrics.acquisitions[at]);
  }
  out.begin("renewals_total", "counter", "Renewals through this server, by outcome.");
  samples(out, "", metrics.renewals);
  out.begin("releases_total", "counter", "Releases through this server, by outcome.");
  samples(out, "", metrics.releases);
  out.begin("forced_releases_total", "counter", "Locks taken away by force through this server.");
  out.sample("", metrics.forced);
  out.begin("lost_leases_total", "counter", "Leases that this server kept for somebody and lost.");
  out.sample("", metrics.lost);
  out.begin("expired_leases_total", "counter",
            "Leases that ended by themselves, as seen while somebody watched.");
  out.sample("", metrics.expired_seen);
  out.begin("wait_seconds", "histogram", "How long acquires waited that were granted.");
  out.sample("", metrics.wait_time);
  out.begin("hold_seconds", "histogram", "How long locks were held that were released here.");
  out.sample("", metrics.hold_time);
  out.begin("deadlocks_total", "counter", "Circles of waits that were found.");
  out.sample("", metrics.deadlocks);
  out.begin("deadlock_victims_total", "counter", "Waits that were ended to break a circle.");
  out.sample("", metrics.deadlock_victims);
}

void write_store(Exposition& out, const StoreMetrics& store) {
  out.begin("store_command_seconds", "histogram", "How long the store took to answer.");
  out.sample("", store.latency);
  out.begin("store_commands_total", "counter", "Commands to the store, by outcome.");
  samples(out, "", store.commands);
  out.begin("store_changes_total", "counter",
            "How often what is behind the store's address may have been replaced.");
  out.sample("", store.changes);
}

void write_http(Exposition& out, const Metrics& metrics) {
  out.begin("http_requests_total", "counter", "Requests, by the class of the answer's status.");
  for (std::size_t digit = 1; digit < metrics.http_by_status.size(); ++digit) {
    out.sample(fmt::format("status=\"{}xx\"", digit), metrics.http_by_status[digit]);
  }
  out.begin("http_request_seconds", "histogram",
            "How long requests took that did not wait for a lock.");
  out.sample("", metrics.http_time);
  out.begin("http_denied_total", "counter",
            "Requests without a good token or without the right to ask.");
  out.sample("", metrics.denied);
}

void write_rates(Exposition& out, const Metrics& metrics) {
  out.begin("rate_limit_checks_total", "counter",
            "Checks of rate limits through this server, by result.");
  out.sample("result=\"allowed\"", metrics.rate_allowed);
  out.sample("result=\"denied\"", metrics.rate_denied);
  out.sample("result=\"failed\"", metrics.rate_failed);
  out.begin("http_rate_limited_total", "counter", "Requests that server.rate_limits turned away.");
  out.sample("", metrics.rate_limited);
}

void write_runs(Exposition& out, const RunMetrics& runs) {
  out.begin("idempotency_requests_total", "counter",
            "Attempts to begin a run under an idempotency key, by outcome.");
  out.sample("outcome=\"new\"", runs.begun);
  out.sample("outcome=\"replay\"", runs.replayed);
  out.sample("outcome=\"mismatch\"", runs.mismatched);
  out.sample("outcome=\"takeover\"", runs.taken_over);
  out.sample("outcome=\"in_progress\"", runs.in_progress);
  out.sample("outcome=\"failed\"", runs.failed);
  out.sample("outcome=\"unknown\"", runs.unknown);
  out.begin("idempotency_run_seconds", "histogram",
            "How long runs took that began and ended through this server.");
  out.sample("", runs.time);
}

void write_forrst(Exposition& out, const ByCode& calls) {
  out.begin("forrst_calls_total", "counter",
            "Calls of Forrst functions, by the code of the answer.");
  out.sample("code=\"ok\"", calls.ok());
  const auto rows = forrst::known_codes();
  for (std::size_t at = 0; at < rows.size(); ++at) {
    if (calls.known(at).value() == 0) continue;
    out.sample(fmt::format("code=\"{}\"", rows[at].code), calls.known(at));
  }
  if (calls.other().value() > 0) out.sample("code=\"other\"", calls.other());
}

void write_gauge(Exposition& out, std::string_view name, std::string_view help, double value) {
  out.begin(name, "gauge", help);
  out.sample("", value);
}

void write_gauges(Exposition& out, const Gauges& gauges) {
  const auto number = [](std::size_t value) { return static_cast<double>(value); };
  write_gauge(out, "connections", "Open connections.", number(gauges.connections));
  write_gauge(out, "waiters", "Waits through this server.", number(gauges.waiters));
  write_gauge(out, "event_streams", "Subscribers to events.", number(gauges.event_streams));
  write_gauge(out, "sessions", "Sessions kept by this server.", number(gauges.sessions));
  write_gauge(out, "deadlocks", "Circles of waits just now.", number(gauges.deadlocks));
  if (gauges.held) {
    write_gauge(out, "held_locks", "Locks that somebody holds on the store.", number(*gauges.held));
  }
  if (gauges.waiters_on_store) {
    write_gauge(out, "waiters_on_store", "Waiters on the store, through any process.",
                number(*gauges.waiters_on_store));
  }
  write_gauge(out, "store_up", "Whether the store answered the last look.",
              gauges.store_up ? 1 : 0);
  out.begin("audit_dropped_total", "counter", "Entries of the audit trail that were dropped.");
  out.sample("", static_cast<double>(gauges.audit_dropped));
}

}  // namespace

ByCode::ByCode() : counters_(2 + forrst::known_codes().size()) {}

void ByCode::add(std::string_view code) noexcept {
  if (code.empty()) return counters_[0].add();
  const auto rows = forrst::known_codes();
  const auto found = std::ranges::find(rows, code, &forrst::CodeRow::code);
  if (found == rows.end()) return counters_[1].add();
  counters_[2 + static_cast<std::size_t>(found - rows.begin())].add();
}

std::string exposition(const Metrics& metrics, const Gauges& gauges, std::string_view version) {
  Exposition out;
  out.begin("build_info", "gauge", "The version of this server.");
  out.sample(fmt::format("version=\"{}\"", version), 1);
  write_locks(out, metrics);
  write_store(out, *metrics.store);
  write_http(out, metrics);
  write_rates(out, metrics);
  write_runs(out, metrics.runs);
  write_forrst(out, metrics.forrst);
  write_gauges(out, gauges);
  return std::move(out).text();
}

}  // namespace holdfast::server
