// SPDX-License-Identifier: Apache-2.0
#include "backends/remote/options.hpp"

#include "text/duration.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace holdfast::backends::remote {

namespace {

using namespace std::chrono_literals;

// Answers can be long: a lock has up to 16384 holders, each with what it says of itself.
constexpr std::size_t max_answer_bytes = 64UL << 20U;
// A server is given 1.5 s for a command, so after this long without a byte the connection is dead,
// not slow.
constexpr auto dead_after_silence = 2s;

std::unexpected<Error> refuse_option(std::string_view option, std::string_view rule) {
  return fail(Errc::bad_input, fmt::format("store: option '{}' {}", option, rule));
}

Result<void> set_file(std::string& where, const std::string& option, const std::string& path) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) {
    return refuse_option(option, fmt::format("names no file: '{}'", path));
  }
  where = path;
  return {};
}

Result<void> set_tls(Options& out, const std::string& option, const std::string& value) {
  if (!out.origin.tls) return refuse_option(option, "is only for https:");
  auto& tls = *out.origin.tls;
  if (option == "ca") return set_file(tls.ca_file, option, value);
  if (option == "cert") return set_file(tls.certificate, option, value);
  if (option == "key") return set_file(tls.private_key, option, value);
  tls.server_name = value;
  return {};
}

Result<void> set(Options& out, const std::string& option, const std::string& value) {
  if (option == "token_file" || option == "token_env") return {};
  if (option == "timeout") {
    const auto time = text::parse_duration(value);
    if (!time || *time < 10ms || *time > 60s) {
      return refuse_option(option, "must be a duration from 10ms to 60s");
    }
    out.origin.connect_timeout = std::chrono::duration_cast<Micros>(*time);
    return {};
  }
  if (option == "socket") {
    out.origin.unix_path = value;
    return {};
  }
  for (const std::string_view of_tls : {"ca", "cert", "key", "sni"}) {
    if (option == of_tls) return set_tls(out, option, value);
  }
  if (option == "token") return refuse_option(option, "is a secret: use token_file or token_env");
  return fail(Errc::bad_input, fmt::format("store: http: has no option '{}'", option));
}

Result<void> set_place(Options& out, const text::StoreUrl& url) {
  if (!url.user.empty() || !url.password.empty()) {
    return fail(Errc::bad_input, "store: http: takes no user or password: see token_file");
  }
  if (url.endpoints.size() != 1) return fail(Errc::bad_input, "store: http: takes one host");
  if (!url.path.empty() && url.path != "/") {
    return fail(Errc::bad_input, "store: http: takes no path behind the host");
  }
  out.origin.host = url.endpoints.front().host;
  const auto port = url.endpoints.front().port;
  out.origin.port = port == 0 ? default_port : port;
  return {};
}

}  // namespace

Result<Options> parse_options(const text::StoreUrl& url) {
  Options out;
  if (url.scheme == "https") out.origin.tls.emplace();
  if (auto good = set_place(out, url); !good) return std::unexpected(std::move(good.error()));
  for (const auto& [option, value] : url.options) {
    if (auto good = set(out, option, value); !good) {
      return std::unexpected(std::move(good.error()));
    }
  }
  auto token = find_token(url);
  if (!token) return std::unexpected(std::move(token.error()));
  if (!token->secret.empty()) {
    out.origin.headers.emplace_back("Authorization", "Bearer " + token->secret);
  }
  out.token_source = std::move(token->where);
  out.origin.max_body_bytes = max_answer_bytes;
  out.origin.longest_silence = dead_after_silence;
  return out;
}

}  // namespace holdfast::backends::remote
