// SPDX-License-Identifier: Apache-2.0
#include "server/config.hpp"
#include "server/config_forrst.hpp"
#include "server/config_rates.hpp"
#include "server/config_values.hpp"
#include "server/listen_address.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace holdfast::server {
namespace {

std::unexpected<Error> refuse_options(std::string reason) {
  return fail(Errc::bad_input, std::move(reason));
}

Result<void> check_tls(const TlsOptions& tls) {
  if (!tls.key.empty() && tls.certificate.empty()) {
    return refuse_options("tls.key needs tls.certificate, the certificate of that key");
  }
  if (!tls.certificate.empty() && tls.key.empty()) {
    return refuse_options("tls.certificate needs tls.key, the key of that certificate");
  }
  const bool asks_clients = tls.clients != ClientCertificates::off;
  if (asks_clients && tls.certificate.empty()) {
    return refuse_options(
        "tls.clients needs tls.certificate and tls.key: without TLS nobody shows a "
        "certificate");
  }
  if (asks_clients && tls.client_ca.empty()) {
    return refuse_options(
        "tls.clients needs tls.client_ca, which signs the certificates of clients; or "
        "say tls.clients: off");
  }
  if (!asks_clients && !tls.client_ca.empty()) {
    return refuse_options(
        "tls.client_ca is not used while tls.clients is off; say tls.clients: required, "
        "or optional");
  }
  return {};
}

// What is missing for an address that other machines can reach.
Result<void> check_reach(const ListenAddress& address, const ServerOptions& options) {
  if (address.is_loopback) return {};
  const bool lacks_auth = options.token_file.empty() && !options.insecure_without_auth;
  const bool lacks_tls = options.tls.certificate.empty() && !options.insecure_without_tls;
  const auto reached =
      fmt::format("listen: {} can be reached from other machines: ", to_string(address));
  if (lacks_auth && lacks_tls) {
    return refuse_options(reached +
                          "give token_file and tls.certificate, or say insecure_without_auth and "
                          "insecure_without_tls");
  }
  if (lacks_auth) return refuse_options(reached + "give token_file, or say insecure_without_auth");
  if (lacks_tls)
    return refuse_options(reached + "give tls.certificate, or say insecure_without_tls");
  return {};
}

Result<void> check_listen(const ServerOptions& options) {
  if (options.listen.empty()) return refuse_options("listen: give at least one address");
  std::vector<ListenAddress> seen;
  for (const auto& text : options.listen) {
    auto address = parse_listen(text);
    if (!address) return refuse_options("listen: " + address.error().message);
    // Two free ports are two.
    const bool is_fixed = address->port != 0 || !address->unix_path.empty();
    if (is_fixed && std::ranges::find(seen, *address) != seen.end()) {
      return refuse_options(fmt::format("listen: {} stands twice", to_string(*address)));
    }
    if (auto checked = check_reach(*address, options); !checked) return checked;
    seen.push_back(std::move(*address));
  }
  return {};
}

Result<void> check_patterns(const PatternOptions& patterns) {
  if (patterns.min_duration > patterns.max_duration) {
    return refuse_options("patterns.min_duration must not be longer than patterns.max_duration");
  }
  if (patterns.max_duration >= std::chrono::hours(24)) {
    return refuse_options("patterns.max_duration must be shorter than 24h");
  }
  for (const auto& [name, url] : patterns.upstreams) {
    if (auto checked = check_upstream_name(name); !checked) {
      return refuse_options("patterns.upstreams: " + checked.error().message);
    }
    if (auto checked = check_upstream(url); !checked) {
      return refuse_options(
          fmt::format("patterns.upstreams.{}: {}", name, checked.error().message));
    }
  }
  return {};
}

Result<void> check_idempotency(const OnceOptions& once) {
  if (once.ttl < min_answer_ttl || once.ttl > max_answer_ttl) {
    return refuse_options("idempotency.ttl must be from 1s to 31d");
  }
  if (once.guard < min_guard || once.guard > max_guard) {
    return refuse_options("idempotency.guard must be from 100ms to 24h");
  }
  return {};
}

Result<void> check_browsers(const ServerOptions& options) {
  for (const auto& host : options.allowed_hosts) {
    if (auto checked = check_host(host); !checked) {
      return refuse_options("allowed_hosts: " + checked.error().message);
    }
  }
  for (const auto& origin : options.allowed_origins) {
    if (auto checked = check_origin(origin); !checked) {
      return refuse_options("allowed_origins: " + checked.error().message);
    }
  }
  return {};
}

}  // namespace

Result<void> check(const ServerOptions& options) {
  if (auto checked = check_tls(options.tls); !checked) return checked;
  if (auto checked = check_listen(options); !checked) return checked;
  if (auto checked = check_browsers(options); !checked) return checked;
  if (auto checked = check_patterns(options.patterns); !checked) return checked;
  if (auto checked = check_idempotency(options.idempotency); !checked) return checked;
  if (auto checked = check_forrst(options.forrst); !checked) return checked;
  const auto frames = "unix:" + options.forrst.socket;
  if (std::ranges::find(options.listen, frames) != options.listen.end()) {
    return refuse_options("forrst.socket: " + options.forrst.socket +
                          " is one of listen, which is HTTP");
  }
  return check_rate_limits(options.rate_limits);
}

}  // namespace holdfast::server
