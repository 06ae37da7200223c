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
using Check = Result<void> (*)(std::string_view);

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

// Readers for the fields of a struct that outlives them.
Value::Reader text(std::string& out) {
  return [&out](const Value& value) { return value.read_text(out); };
}

Value::Reader text(std::string& out, Check check) {
  return [&out, check](const Value& value) -> Result<void> {
    if (auto read = value.read_text(out); !read) return read;
    if (auto checked = check(out); !checked) return value.refuse(checked.error());
    return {};
  };
}

Value::Reader texts(std::vector<std::string>& out, Check check) {
  return [&out, check](const Value& value) -> Result<void> {
    if (auto read = value.read_texts(out); !read) return read;
    if (out.size() > max_listed_texts) {
      return value.refuse(fmt::format("must have at most {} entries", max_listed_texts));
    }
    for (const auto& each : out) {
      if (auto checked = check(each); !checked) {
        return value.refuse(checked.error());
      }
    }
    return {};
  };
}

Value::Reader flag(bool& out) {
  return [&out](const Value& value) { return value.read(out); };
}

template <typename Integer>
Value::Reader count(Integer& out, std::uint64_t least, std::uint64_t most) {
  return [&out, least, most](const Value& value) { return value.read_count(out, {least, most}); };
}

template <typename Integer>
Value::Reader size(Integer& out, std::uint64_t least, std::uint64_t most) {
  return [&out, least, most](const Value& value) { return value.read_size(out, {least, most}); };
}

Value::Reader duration(Duration& out, Duration least, Duration most) {
  return
      [&out, least, most](const Value& value) { return value.read_duration(out, {least, most}); };
}

template <typename Enum>
Value::Reader choice(Enum& out, std::vector<std::pair<std::string_view, Enum>> choices) {
  return [&out, choices = std::move(choices)](const Value& value) {
    return value.read_choice<Enum>(out, choices);
  };
}

Value::Reader map(Value::Readers readers) {
  return [readers = std::move(readers)](const Value& value) { return value.read_map(readers); };
}

Value::Reader limits(Limits& out) {
  const auto timeout = [](Duration& field) { return duration(field, milliseconds(100), hours(1)); };
  return map({
      {"max_body_bytes", size(out.max_body_bytes, kib, 16 * mib)},
      {"max_header_bytes", size(out.max_header_bytes, kib, mib)},
      {"max_headers", count(out.max_headers, 4, 1000)},
      {"max_connections", count(out.max_connections, 1, million)},
      {"max_connections_per_address", count(out.max_connections_per_address, 1, million)},
      // A lock itself holds no more.
      {"max_waiters_per_name", count(out.max_waiters_per_name, 1, model::limits::max_waiters)},
      {"max_waiters", count(out.max_waiters, 1, million)},
      {"max_pipelined", count(out.max_pipelined, 1, 1000)},
      {"max_output_bytes", size(out.max_output_bytes, 16 * kib, gib)},
      {"max_sessions", count(out.max_sessions, 1, million)},
      {"max_session_leases", count(out.max_session_leases, 1, 100'000)},
      {"max_event_streams", count(out.max_event_streams, 0, 100'000)},
      {"kept_events", count(out.kept_events, 0, million)},
      {"max_observed", count(out.max_observed, 0, million)},
      {"token_requests_per_s", count(out.token_requests_per_s, 0, max_requests_per_s)},
      {"header_timeout", timeout(out.header_timeout)},
      {"body_timeout", timeout(out.body_timeout)},
      {"idle_timeout", timeout(out.idle_timeout)},
  });
}

Value::Reader upstreams(PatternOptions& out) {
  return [&out](const Value& value) {
    return value.each_entry([&out](const std::string& name, const Value& url) -> Result<void> {
      if (auto checked = check_upstream_name(name); !checked) {
        return url.refuse(checked.error());
      }
      return text(out.upstreams[name], check_upstream)(url);
    });
  };
}

Value::Reader patterns(PatternOptions& out) {
  return map({
      {"redlock", map({{"store", text(out.redlock_store, check_voters)}})},
      {"ttl", duration(out.ttl, min_ttl, max_ttl)},
      {"min_duration", duration(out.min_duration, Duration::zero(), hours(24))},
      {"max_duration", duration(out.max_duration, Duration::zero(), hours(24))},
      {"upstreams", upstreams(out)},
  });
}

Value::Reader n8n(N8nOptions& out) {
  return map({
      {"store", text(out.store, text::check_store_url)},
      {"lock_scopes", texts(out.lock_scopes, holdfast::n8n::check_scope)},
  });
}

Value::Reader idempotency(OnceOptions& out) {
  using enum OnceOptions::TakeOver;
  return map({
      {"ttl", duration(out.ttl, min_answer_ttl, max_answer_ttl)},
      {"guard", duration(out.guard, min_guard, max_guard)},
      {"take_over", choice(out.take_over, {{"refuse", refuse}, {"run", run}})},
  });
}

Value::Reader tls(TlsOptions& out) {
  using enum ClientCertificates;
  return map({
      {"certificate", text(out.certificate)},
      {"key", text(out.key)},
      {"client_ca", text(out.client_ca)},
      {"clients",
       choice(out.clients, {{"off", off}, {"optional", optional}, {"required", required}})},
  });
}

Value::Reader log(ServerOptions& out) {
  return map({
      {"format", choice(out.log_format, {{"text", LogFormat::text}, {"json", LogFormat::json}})},
      {"level", choice(out.log_level, {{"debug", LogLevel::debug},
                                       {"info", LogLevel::info},
                                       {"warning", LogLevel::warning},
                                       {"error", LogLevel::error}})},
  });
}

Value::Reader audit(AuditOptions& out) {
  return map({
      {"file", text(out.file)},
      {"max_file_bytes", size(out.max_file_bytes, 64 * kib, 1024 * gib)},
      {"kept_files", count(out.kept_files, 0, 1000)},
  });
}

Value::Reader section(ServerOptions& out) {
  return map({
      {"listen", texts(out.listen, check_listen_text)},
      {"store", text(out.store, text::check_store_url)},
      {"threads", count(out.threads, 1, 64)},
      {"drain", duration(out.drain, Duration::zero(), minutes(5))},
      {"tls", tls(out.tls)},
      {"token_file", text(out.token_file)},
      {"allowed_hosts", texts(out.allowed_hosts, check_host)},
      {"allowed_origins", texts(out.allowed_origins, check_origin)},
      {"insecure_without_auth", flag(out.insecure_without_auth)},
      {"insecure_without_tls", flag(out.insecure_without_tls)},
      {"log", log(out)},
      {"deadlock_victim", choice(out.deadlock_victim, {{"none", DeadlockVictim::none},
                                                       {"youngest", DeadlockVictim::youngest}})},
      {"audit", audit(out.audit)},
      {"patterns", patterns(out.patterns)},
      {"n8n", n8n(out.n8n)},
      {"forrst", [&out](const Value& value) { return read_forrst(value, out.forrst); }},
      {"idempotency", idempotency(out.idempotency)},
      {"rate_limits",
       [&out](const Value& value) { return read_rate_limits(value, out.rate_limits); }},
      {"limits", limits(out.limits)},
  });
}

}  // namespace

Result<ServerOptions> load_server_options(const text::Config& config, std::string_view file_name) {
  ServerOptions options;
  if (config.server_yaml.empty()) return options;
  const Value::Place place{file_name, config.server_line};
  // yaml-cpp throws, although it has read all of this before.
  try {
    const auto root = YAML::Load(config.server_yaml);
    const Value value(place, "server", root, root.Mark());
    if (auto read = section(options)(value); !read) {
      return std::unexpected(std::move(read.error()));
    }
  } catch (const std::exception& error) {
    return fail(Errc::bad_input, fmt::format("{}:{}: server is not YAML: {}", file_name,
                                             config.server_line, error.what()));
  }
  return options;
}

}  // namespace holdfast::server
