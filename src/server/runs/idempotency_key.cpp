// SPDX-License-Identifier: Apache-2.0
#include "server/runs/idempotency_key.hpp"

#include "server/locks/order.hpp"
#include "server/options.hpp"
#include "server/runs/run_access.hpp"
#include "server/services.hpp"
#include "text/sha256.hpp"

#include <boost/beast/core/string.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace holdfast::server {

namespace {

constexpr std::string_view header_name = "Idempotency-Key";
constexpr std::uint64_t max_wait_s = std::chrono::floor<std::chrono::seconds>(max_wait).count();

bool is_control(char each) {
  const auto byte = static_cast<unsigned char>(each);
  return byte < 0x20 || byte == 0x7f;
}

std::unexpected<Error> refuse_header(std::string_view header, std::string_view rule) {
  return fail(Errc::bad_input, fmt::format("{}: {}", header, rule));
}

Result<std::optional<std::string_view>> read_key(const net::http::Request& request) {
  std::optional<std::string_view> key;
  for (const auto& header : request.headers) {
    if (!boost::beast::iequals(header.name, header_name)) continue;
    if (key) return refuse_header(header_name, "must stand there once");
    key = header.value;
  }
  if (!key) return key;
  if (key->empty() || key->size() > max_request_key_bytes) {
    return refuse_header(header_name, fmt::format("must have 1 to {} bytes; got {}",
                                                  max_request_key_bytes, key->size()));
  }
  if (std::ranges::any_of(*key, is_control)) {
    return refuse_header(header_name, "must have no control characters");
  }
  return key;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// "Prefer: respond-async, wait=10" (RFC 7240): other preferences are not ours.
Result<Micros> read_wait(const net::http::Request& request) {
  auto rest = request.header("Prefer");
  while (!rest.empty()) {
    const auto comma = std::min(rest.find(','), rest.size());
    const auto each = trimmed(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const auto equals = std::min(each.find('='), each.size());
    if (!boost::beast::iequals(trimmed(each.substr(0, equals)), "wait")) continue;
    const auto value = trimmed(each.substr(std::min(equals + 1, each.size())));
    std::uint64_t seconds = 0;
    const auto* const end = value.data() + value.size();
    const auto [at, failed] = std::from_chars(value.data(), end, seconds);
    if (failed != std::errc{} || at != end || seconds > max_wait_s) {
      return refuse_header("Prefer", fmt::format("wait must be 0 to {} whole seconds", max_wait_s));
    }
    return std::chrono::seconds(seconds);
  }
  return Micros::zero();
}

// The parts are kept apart by their lengths. A hash, because the name is shown where keys are
// listed, and a key may be longer than what is left of a name.
Result<LockName> record_name(const Principal& principal, std::string_view scope,
                             std::string_view key) {
  const auto text = fmt::format("{}:{}{}:{}{}:{}", principal.name.size(), principal.name,
                                scope.size(), scope, key.size(), key);
  return recipes::run_name(std::string(own_run_prefix) + text::sha256_hex(text));
}

Result<std::string> fingerprint_of(const net::http::Request& request) {
  const auto path = request.query.empty() ? std::string(request.path)
                                          : fmt::format("{}?{}", request.path, request.query);
  RequestParts parts{.method = request.method_text, .path = path};
  if (!request.body.empty()) parts.body = request.body;
  return request_fingerprint(parts);
}

}  // namespace

Result<std::optional<OnceOrder>> parse_once(const Call& call, std::string_view scope) {
  const auto key = read_key(call.request);
  if (!key) return std::unexpected(key.error());
  if (!*key) return std::nullopt;
  const auto wait = read_wait(call.request);
  if (!wait) return std::unexpected(wait.error());
  auto name = record_name(*call.principal, scope, **key);
  if (!name) return std::unexpected(std::move(name.error()));
  const auto fingerprint = fingerprint_of(call.request);
  if (!fingerprint) return std::unexpected(fingerprint.error());
  const auto& options = call.services.options().idempotency;
  const bool takes_over = options.take_over == OnceOptions::TakeOver::run;
  auto terms = recipes::make_terms(call.services.core(),
                                   {.fingerprint = *fingerprint,
                                    .ttl = options.ttl,
                                    .guard = options.guard,
                                    // What did not happen may be tried again at once.
                                    .keep_failure = Duration::zero(),
                                    .take_over = takes_over ? TakeOver::run : TakeOver::refuse});
  if (!terms) return std::unexpected(std::move(terms.error()));
  auto upstream_key = name->str().substr(own_run_prefix.size());
  return OnceOrder{std::move(*name), std::move(upstream_key), std::move(*terms), *wait};
}

}  // namespace holdfast::server
