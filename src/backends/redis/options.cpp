// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/options.hpp"

#include "text/duration.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <functional>

namespace holdfast::backends::redis {

namespace {

using namespace std::chrono_literals;

std::unexpected<Error> refuse(std::string_view option, std::string_view rule) {
  return fail(Errc::bad_input, fmt::format("store: option '{}' {}", option, rule));
}

Result<std::uint32_t> number(std::string_view option, std::string_view text, std::uint32_t most) {
  std::uint32_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size() || value > most) {
    return refuse(option, fmt::format("must be a number from 0 to {}", most));
  }
  return value;
}

Result<Micros> time_from(std::string_view option, std::string_view text, Micros most) {
  auto parsed = text::parse_duration(text);
  if (!parsed || *parsed < 10ms || *parsed > most) {
    return refuse(option,
                  fmt::format("must be a duration from 10ms to {}",
                              text::format_duration(
                                  std::chrono::duration_cast<std::chrono::milliseconds>(most))));
  }
  return std::chrono::duration_cast<Micros>(*parsed);
}

Result<std::string> file_from(std::string_view option, const std::string& path) {
  std::error_code failure;
  if (std::filesystem::is_regular_file(path, failure)) return path;
  return refuse(option, fmt::format("names no file: '{}'", path));
}

template <typename T>
Result<void> put(T& where, Result<T> value) {
  if (!value) return std::unexpected(std::move(value.error()));
  where = std::move(*value);
  return {};
}

Result<void> set_tls(Options& out, const std::string& option, const std::string& value) {
  if (!out.endpoint.tls) return refuse(option, "is only for rediss:");
  auto& tls = *out.endpoint.tls;
  if (option == "ca") return put(tls.ca_file, file_from(option, value));
  if (option == "cert") return put(tls.certificate, file_from(option, value));
  if (option == "key") return put(tls.private_key, file_from(option, value));
  tls.server_name = value;
  return {};
}

Result<void> set(Options& out, const std::string& option, const std::string& value) {
  auto& endpoint = out.endpoint;
  if (option == "db") return put(endpoint.database, number(option, value, max_database));
  if (option == "timeout")
    return put(endpoint.command_timeout, time_from(option, value, max_timeout));
  if (option == "connect_timeout") {
    return put(endpoint.connect_timeout, time_from(option, value, max_timeout));
  }
  if (option == "replicas") return put(out.replicas, number(option, value, max_replicas));
  if (option == "replica_timeout") {
    return put(out.replica_timeout, time_from(option, value, max_replica_timeout));
  }
  if (option == "audit") return put(out.audit, number(option, value, max_audit));
  if (option == "fence_clock") {
    if (value != "always" && value != "connect") return refuse(option, "is 'connect' or 'always'");
    out.fence_clock_always = value == "always";
    return {};
  }
  for (const std::string_view of_tls : {"ca", "cert", "key", "sni"}) {
    if (option == of_tls) return set_tls(out, option, value);
  }
  return fail(Errc::bad_input, fmt::format("store: redis: has no option '{}'", option));
}

Result<void> set_place(Options& out, const text::StoreUrl& url) {
  auto& endpoint = out.endpoint;
  if (url.endpoints.size() > 1) {
    return fail(Errc::bad_input, "store: redis: takes one host");
  }
  if (url.endpoints.empty()) {
    if (endpoint.tls || url.path.size() < 2) {
      return fail(Errc::bad_input, "store: redis: needs a host, or the path of a unix socket");
    }
    endpoint.unix_path = url.path;
    return {};
  }
  endpoint.host = url.endpoints.front().host;
  if (url.endpoints.front().port != 0) endpoint.port = url.endpoints.front().port;
  if (url.path.empty() || url.path == "/") return {};
  return put(endpoint.database, number("db", std::string_view(url.path).substr(1), max_database));
}

bool is_of_dialect(std::string_view option) {
  return option == "dialect" || option == "profile" || option == "prefix" || option == "template";
}

// `prefix=lock:` is short for `template=lock:*`.
Result<void> set_dialect(Options& out, const text::StoreUrl& url) {
  const auto given = [&](std::string_view option) {
    const auto found = url.options.find(option);
    return found == url.options.end() ? std::string() : found->second;
  };
  std::string key = given("template");
  if (const auto prefix = given("prefix"); !prefix.empty()) {
    if (!key.empty()) return refuse("prefix", "and 'template' say the same thing");
    if (prefix.find('*') != std::string::npos) return refuse("prefix", "must not contain *");
    key = prefix + "*";
  }
  return put(out.dialect, Dialect::make(given("dialect"), given("profile"), key));
}

}  // namespace

Result<Options> parse_options(const text::StoreUrl& url) {
  Options out;
  if (url.scheme == "rediss") out.endpoint.tls.emplace();
  if (auto placed = set_place(out, url); !placed) return std::unexpected(std::move(placed.error()));
  if (!url.user.empty() && url.password.empty()) {
    return fail(Errc::bad_input, "store: redis: a user needs a password, as in USER:PASSWORD@HOST");
  }
  out.endpoint.user = url.user;
  out.endpoint.password = url.password;
  if (auto spoken = set_dialect(out, url); !spoken) {
    return std::unexpected(std::move(spoken.error()));
  }
  for (const auto& [option, value] : url.options) {
    if (is_of_dialect(option)) continue;
    if (auto done = set(out, option, value); !done) return std::unexpected(std::move(done.error()));
  }
  if (out.endpoint.tls) {
    const auto& tls = *out.endpoint.tls;
    if (tls.certificate.empty() != tls.private_key.empty()) {
      return refuse("cert", "and 'key' go together");
    }
  }
  return out;
}

}  // namespace holdfast::backends::redis
