// SPDX-License-Identifier: Apache-2.0
#include "server/config.hpp"

#include "model/lock_state.hpp"
#include "recipes/n8n.hpp"
#include "server/auth/request_rate.hpp"
#include "server/config_forrst.hpp"
#include "server/config_rates.hpp"
#include "server/config_reader.hpp"
#include "server/config_values.hpp"
#include "server/endpoints/patterns/voters.hpp"
#include "server/listen_address.hpp"
#include "text/quorum_url.hpp"

#include <fmt/format.h>

#include <utility>

namespace holdfast::server {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
constexpr std::uint64_t gib = 1024 * mib;
constexpr std::uint64_t million = 1'000'000;

constexpr std::size_t max_listed_texts = 100;

using Value = ConfigValue;

Result<void> check_voters(std::string_view stores) {
  if (text::is_quorum_url(stores)) return text::check_store_url(stores);
  for (const auto& member : patterns::split_members(stores)) {
    if (auto good = text::check_store_url(member); !good) return good;
  }
  return {};
}

Result<void> check_listen_text(std::string_view address) {
  auto parsed = parse_listen(address);
  if (!parsed) return std::unexpected(std::move(parsed.error()));
  return {};
}

Result<void> read_list(const Value& value, std::vector<std::string>& out, Value::TextCheck check) {
  if (auto read = value.read_texts(out); !read) return read;
  if (out.size() > max_listed_texts) {
    return value.refuse(fmt::format("must have at most {} entries", max_listed_texts));
  }
  for (const auto& each : out) {
    if (auto checked = check(each); !checked) return value.refuse(checked.error());
  }
  return {};
}

Result<void> read_limit(std::string_view key, const Value& value, Limits& out) {
  constexpr DurationRange timeout{milliseconds(100), hours(1)};
  if (key == "max_body_bytes") return value.read_size(out.max_body_bytes, {kib, 16 * mib});
  if (key == "max_header_bytes") return value.read_size(out.max_header_bytes, {kib, mib});
  if (key == "max_headers") return value.read_count(out.max_headers, {4, 1000});
  if (key == "max_connections") return value.read_count(out.max_connections, {1, million});
  if (key == "max_connections_per_address") {
    return value.read_count(out.max_connections_per_address, {1, million});
  }
  if (key == "max_waiters_per_name") {
    // A lock itself holds no more.
    return value.read_count(out.max_waiters_per_name, {1, model::limits::max_waiters});
  }
  if (key == "max_waiters") return value.read_count(out.max_waiters, {1, million});
  if (key == "max_pipelined") return value.read_count(out.max_pipelined, {1, 1000});
  if (key == "max_output_bytes") return value.read_size(out.max_output_bytes, {16 * kib, gib});
  if (key == "max_sessions") return value.read_count(out.max_sessions, {1, million});
  if (key == "max_session_leases") return value.read_count(out.max_session_leases, {1, 100'000});
  if (key == "max_event_streams") return value.read_count(out.max_event_streams, {0, 100'000});
  if (key == "kept_events") return value.read_count(out.kept_events, {0, million});
  if (key == "max_observed") return value.read_count(out.max_observed, {0, million});
  if (key == "token_requests_per_s") {
    return value.read_count(out.token_requests_per_s, {0, max_requests_per_s});
  }
  if (key == "header_timeout") return value.read_duration(out.header_timeout, timeout);
  if (key == "body_timeout") return value.read_duration(out.body_timeout, timeout);
  if (key == "idle_timeout") return value.read_duration(out.idle_timeout, timeout);
  return value.refuse_key(key);
}

Result<void> read_upstream(std::string_view name, const Value& url, PatternOptions& out) {
  if (auto checked = check_upstream_name(name); !checked) return url.refuse(checked.error());
  return url.read_text(out.upstreams[std::string(name)], check_upstream);
}

Result<void> read_redlock(std::string_view key, const Value& value, PatternOptions& out) {
  if (key == "store") return value.read_text(out.redlock_store, check_voters);
  return value.refuse_key(key);
}

Result<void> read_pattern(std::string_view key, const Value& value, PatternOptions& out) {
  constexpr DurationRange up_to_a_day{Duration::zero(), hours(24)};
  if (key == "redlock") return read_entries(value, out, read_redlock);
  if (key == "ttl") return value.read_duration(out.ttl, {min_ttl, max_ttl});
  if (key == "min_duration") return value.read_duration(out.min_duration, up_to_a_day);
  if (key == "max_duration") return value.read_duration(out.max_duration, up_to_a_day);
  if (key == "upstreams") return read_entries(value, out, read_upstream);
  return value.refuse_key(key);
}

Result<void> read_n8n(std::string_view key, const Value& value, N8nOptions& out) {
  if (key == "store") return value.read_text(out.store, text::check_store_url);
  if (key == "lock_scopes") return read_list(value, out.lock_scopes, holdfast::n8n::check_scope);
  return value.refuse_key(key);
}

Result<void> read_idempotency(std::string_view key, const Value& value, OnceOptions& out) {
  using enum OnceOptions::TakeOver;
  if (key == "ttl") return value.read_duration(out.ttl, {min_answer_ttl, max_answer_ttl});
  if (key == "guard") return value.read_duration(out.guard, {min_guard, max_guard});
  if (key == "take_over") {
    return value.read_choice(out.take_over, {{"refuse", refuse}, {"run", run}});
  }
  return value.refuse_key(key);
}

Result<void> read_tls(std::string_view key, const Value& value, TlsOptions& out) {
  using enum ClientCertificates;
  if (key == "certificate") return value.read_text(out.certificate);
  if (key == "key") return value.read_text(out.key);
  if (key == "client_ca") return value.read_text(out.client_ca);
  if (key == "clients") {
    return value.read_choice(out.clients,
                             {{"off", off}, {"optional", optional}, {"required", required}});
  }
  return value.refuse_key(key);
}

Result<void> read_log(std::string_view key, const Value& value, ServerOptions& out) {
  if (key == "format") {
    return value.read_choice(out.log_format,
                             {{"text", LogFormat::text}, {"json", LogFormat::json}});
  }
  if (key == "level") {
    return value.read_choice(out.log_level, {{"debug", LogLevel::debug},
                                             {"info", LogLevel::info},
                                             {"warning", LogLevel::warning},
                                             {"error", LogLevel::error}});
  }
  return value.refuse_key(key);
}

Result<void> read_audit(std::string_view key, const Value& value, AuditOptions& out) {
  if (key == "file") return value.read_text(out.file);
  if (key == "max_file_bytes") return value.read_size(out.max_file_bytes, {64 * kib, 1024 * gib});
  if (key == "kept_files") return value.read_count(out.kept_files, {0, 1000});
  return value.refuse_key(key);
}

Result<void> read_server(std::string_view key, const Value& value, ServerOptions& out) {
  if (key == "listen") return read_list(value, out.listen, check_listen_text);
  if (key == "store") return value.read_text(out.store, text::check_store_url);
  if (key == "threads") return value.read_count(out.threads, {1, 64});
  if (key == "drain") return value.read_duration(out.drain, {Duration::zero(), minutes(5)});
  if (key == "tls") return read_entries(value, out.tls, read_tls);
  if (key == "token_file") return value.read_text(out.token_file);
  if (key == "allowed_hosts") return read_list(value, out.allowed_hosts, check_host);
  if (key == "allowed_origins") return read_list(value, out.allowed_origins, check_origin);
  if (key == "insecure_without_auth") return value.read(out.insecure_without_auth);
  if (key == "insecure_without_tls") return value.read(out.insecure_without_tls);
  if (key == "log") return read_entries(value, out, read_log);
  if (key == "deadlock_victim") {
    return value.read_choice(out.deadlock_victim, {{"none", DeadlockVictim::none},
                                                   {"youngest", DeadlockVictim::youngest}});
  }
  if (key == "audit") return read_entries(value, out.audit, read_audit);
  if (key == "patterns") return read_entries(value, out.patterns, read_pattern);
  if (key == "n8n") return read_entries(value, out.n8n, read_n8n);
  if (key == "forrst") return read_forrst(value, out.forrst);
  if (key == "idempotency") return read_entries(value, out.idempotency, read_idempotency);
  if (key == "rate_limits") return read_rate_limits(value, out.rate_limits);
  if (key == "limits") return read_entries(value, out.limits, read_limit);
  return value.refuse_key(key);
}

}  // namespace

Result<ServerOptions> load_server_options(const text::Config& config, std::string_view file_name) {
  ServerOptions options;
  if (config.server.is_null()) return options;
  const Value value(file_name, "server", config.server, config.server.mark());
  auto read = read_entries(value, options, read_server);
  if (!read) return std::unexpected(std::move(read.error()));
  return options;
}

}  // namespace holdfast::server
