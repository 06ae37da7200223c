// SPDX-License-Identifier: Apache-2.0
//
// Everything that can be set about a server. The section `server:` of config.yml has the same
// names; docs/server.md says what each is for, and docs/limits.md has the limits.
#pragma once

#include <holdfast/forrst/service.hpp>
#include <holdfast/options.hpp>
#include <holdfast/rates.hpp>
#include <holdfast/runs.hpp>

#include "server/auth/principal.hpp"
#include "server/log.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::server {

// What a single caller, or all of them together, may use of the server.
struct Limits {
  std::size_t max_body_bytes = 64 * 1024;
  std::size_t max_header_bytes = 16 * 1024;
  std::size_t max_headers = 64;
  std::size_t max_connections = 10'000;
  std::size_t max_connections_per_address = 256;  // loopback is exempt
  std::size_t max_waiters_per_name = 1'000;
  std::size_t max_waiters = 100'000;
  std::size_t max_pipelined = 32;           // requests taken from one read before answering
  std::size_t max_output_bytes = 1 << 20U;  // unread by a slow subscriber, then it is closed
  std::size_t max_sessions = 10'000;
  std::size_t max_session_leases = 1'000;
  std::size_t max_event_streams = 1'000;
  std::size_t kept_events = 10'000;        // for those who come back with Last-Event-ID
  std::size_t max_observed = 10'000;       // locks looked at for events of other processes
  std::uint32_t token_requests_per_s = 0;  // per token; 0: no limit
  Duration header_timeout = std::chrono::seconds(5);
  Duration body_timeout = std::chrono::seconds(10);
  Duration idle_timeout = std::chrono::seconds(60);
};

enum class DeadlockVictim : std::uint8_t { none, youngest };
// Whether the server asks its clients for a certificate signed by `client_ca`.
enum class ClientCertificates : std::uint8_t { off, optional, required };

struct TlsOptions {
  std::string certificate;  // PEM file with the chain; empty: no TLS
  std::string key;          // PEM file
  std::string client_ca;    // PEM file
  ClientCertificates clients = ClientCertificates::off;
};

struct AuditOptions {
  std::string file;  // empty: only the newest entries, in memory
  std::size_t max_file_bytes = 64 * 1024 * 1024;
  std::uint32_t kept_files = 5;  // besides the one that is written
};

// The Valkey guide's patterns, /api/locks/….
struct PatternOptions {
  // A redlock:// URL, or its members; empty: five of them in memory, a demonstration.
  std::string redlock_store;
  Duration ttl = std::chrono::seconds(25);
  Duration min_duration = std::chrono::seconds(10);
  Duration max_duration = std::chrono::seconds(20);
  // What an operation may call: a name for the request, a URL that only the operator chooses.
  std::map<std::string, std::string, std::less<>> upstreams;
};

// How often endpoints of this server may be called; counted in the store, so that all servers of
// one store count together.
struct EndpointLimit {
  enum class Per : std::uint8_t { token, address, all };
  // Of a request that cannot be counted because the store does not answer.
  enum class WithoutStore : std::uint8_t { refuse, allow };

  std::string
      path;  // as the API has it, "/v1/locks/{name}/acquire", or all below it: "/v1/locks/*"
  RateRule rule;
  Per per = Per::token;
  WithoutStore without_store = WithoutStore::refuse;
};

inline constexpr std::size_t max_endpoint_limits = 100;

// The header Idempotency-Key of the patterns.
struct OnceOptions {
  // Of a run that began and was never heard of again.
  enum class TakeOver : std::uint8_t { refuse, run };

  Duration ttl = default_answer_ttl;  // how long an answer is replayed
  Duration guard = default_guard;     // how long a run is known to be under way without a sign
  TakeOver take_over = TakeOver::refuse;
};

// The body of …/complete: an answer of max_answer_bytes as JSON, whose texts grow when they are
// quoted.
inline constexpr std::size_t max_complete_body_bytes = std::size_t{640} * 1024;

// n8n's primitives, /n8n/….
struct N8nOptions {
  // Where their locks are; empty: in the server's own store, in n8n's keys where it shares keys.
  std::string store;
  // The scopes that a clean-up looks at in any case, beside those of the request.
  std::vector<std::string> lock_scopes;
};

// A function of Forrst whose work is done elsewhere: one of the two is given.
struct ForrstFunction {
  forrst::Function about;            // without a handler
  std::string upstream;              // a URL that only the operator chooses
  std::vector<std::string> command;  // a program and its words, for no shell
};

// Forrst at /forrst, /rpc and a socket of its own.
struct ForrstOptions {
  // Where its locks are; empty: in the server's own store.
  std::string store;
  std::string name = "holdfast";
  std::string node;
  std::string prefix = "lock:";
  forrst::ShowOwner status_owner = forrst::ShowOwner::automatic;
  bool strict_extensions = false;
  std::optional<RateRule> rate_limit;
  std::string socket;              // a path, for frames; empty: none
  Verbs socket_verbs{Verb::lock};  // of its callers, where others need a token
  unsigned command_threads = 8;    // commands that run at the same time
  std::vector<ForrstFunction> functions;
};

inline constexpr std::size_t max_configured_functions = 1'000;
inline constexpr std::size_t max_command_words = 100;
inline constexpr std::size_t max_command_threads = 256;
// What a command may write, and how much of its complaints is kept for the log.
inline constexpr std::size_t max_command_output_bytes = std::size_t{1} << 20U;
inline constexpr std::size_t max_command_complaint_bytes = std::size_t{4} * 1024;
// From SIGTERM to SIGKILL.
inline constexpr Duration command_grace = std::chrono::seconds(1);

struct ServerOptions {
  std::vector<std::string> listen{"127.0.0.1:3009"};  // "ADDRESS:PORT", "[::1]:3009", "unix:/path"
  std::string store;                                  // empty: what the rest of the program uses
  unsigned threads = 1;
  Duration drain = std::chrono::seconds(10);
  TlsOptions tls;
  std::string token_file;
  std::vector<std::string> allowed_hosts;    // beside the ones listened on, for the Host header
  std::vector<std::string> allowed_origins;  // for browsers on other sites; empty: CORS is off
  bool insecure_without_auth = false;        // listens beyond loopback without tokens
  bool insecure_without_tls = false;         // listens beyond loopback without TLS
  LogFormat log_format = LogFormat::text;
  LogLevel log_level = LogLevel::info;
  DeadlockVictim deadlock_victim = DeadlockVictim::none;
  AuditOptions audit;
  PatternOptions patterns;
  N8nOptions n8n;
  ForrstOptions forrst;
  OnceOptions idempotency;
  std::vector<EndpointLimit> rate_limits;  // a request must pass all that match
  Limits limits;
};

}  // namespace holdfast::server
