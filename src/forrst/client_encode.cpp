// SPDX-License-Identifier: Apache-2.0
#include "forrst/client_encode.hpp"

#include <holdfast/forrst/function.hpp>
#include <holdfast/forrst/service.hpp>

#include "forrst/envelope.hpp"
#include "forrst/urn.hpp"
#include "model/utf8.hpp"
#include "runtime/random.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include <cmath>

namespace holdfast::forrst {

namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view lock_urn = "urn:forrst:ext:atomicLock";
constexpr std::string_view idempotency_urn = "urn:cline:forrst:ext:idempotency";
constexpr std::string_view deadline_urn = "urn:cline:forrst:ext:deadline";
constexpr std::size_t max_idempotency_key_bytes = 255;
constexpr Duration max_timeout = 24h;
constexpr unsigned max_attempts = 1'000'000;

std::unexpected<Error> refuse_field(std::string_view field, std::string_view rule) {
  return fail(Errc::bad_input, fmt::format("{}: {}", field, rule));
}

bool is_whole_seconds(Duration duration) { return duration % 1s == 0s; }

Result<void> check_lock(const LockOptions& lock) {
  if (lock.key.empty() || lock.key.size() > max_lock_key_bytes) {
    return refuse_field("lock.key", fmt::format("must have 1 to {} bytes", max_lock_key_bytes));
  }
  // The protocol has no smaller unit, and to round would promise what is not kept.
  if (!is_whole_seconds(lock.ttl) || lock.ttl < 1s || lock.ttl > max_lock_ttl) {
    return refuse_field("lock.ttl", "must be whole seconds, from 1 s to 24 h");
  }
  if (!is_whole_seconds(lock.block) || lock.block < 0s || lock.block > max_lock_ttl) {
    return refuse_field("lock.block", "must be whole seconds, at most 24 h; zero does not wait");
  }
  return {};
}

Result<void> check_backoff(const Backoff& backoff) {
  if (backoff.attempts < 1 || backoff.attempts > max_attempts) {
    return refuse_field("backoff.attempts", fmt::format("must be from 1 to {}", max_attempts));
  }
  if (backoff.first <= 0s || backoff.first > max_timeout) {
    return refuse_field("backoff.first", "must be more than nothing, and at most 24 h");
  }
  if (backoff.most < backoff.first || backoff.most > max_timeout) {
    return refuse_field("backoff.most", "must not be less than backoff.first, and at most 24 h");
  }
  if (!(backoff.factor >= 1) || !std::isfinite(backoff.factor)) {
    return refuse_field("backoff.factor", "must be at least 1");
  }
  if (!(backoff.jitter >= 0 && backoff.jitter <= 1)) {
    return refuse_field("backoff.jitter", "must be from 0 to 1");
  }
  return {};
}

// Twice the same extension: which one counts?
Result<void> check_others(const CallOptions& options) {
  const auto given = std::size_t{options.lock.has_value()} +
                     std::size_t{options.deadline.has_value()} +
                     std::size_t{options.idempotency_key.has_value()};
  if (given + options.extensions.size() > max_extensions) {
    return refuse_field("extensions", fmt::format("must be at most {}", max_extensions));
  }
  for (const auto& each : options.extensions) {
    if (each.urn.empty() || each.urn.size() > max_urn_bytes) {
      return refuse_field("extensions.urn", fmt::format("must have 1 to {} bytes", max_urn_bytes));
    }
    const auto known = known_extension(each.urn);
    const bool is_twice = (known == Extension::atomic_lock && options.lock) ||
                          (known == Extension::idempotency && options.idempotency_key) ||
                          (known == Extension::deadline && options.deadline);
    if (is_twice)
      return refuse_field("extensions", fmt::format("{} is given by an option already", each.urn));
  }
  return {};
}

json::object seconds_of(Duration duration) {
  return {{"value", std::chrono::duration_cast<seconds>(duration).count()}, {"unit", "second"}};
}

json::object lock_options(const LockOptions& lock) {
  json::object out{{"key", lock.key}, {"ttl", seconds_of(lock.ttl)}};
  if (lock.scope == Scope::global) out.emplace("scope", "global");
  if (lock.block > 0s) out.emplace("block", seconds_of(lock.block));
  if (!lock.owner.empty()) out.emplace("owner", lock.owner);
  if (!lock.auto_release) out.emplace("auto_release", false);
  return out;
}

json::array extensions_of(const CallOptions& options, std::optional<Duration> deadline) {
  json::array out;
  const auto add = [&](std::string_view urn, json::object with) {
    json::object extension{{"urn", urn}};
    if (!with.empty()) extension.emplace("options", std::move(with));
    out.emplace_back(std::move(extension));
  };
  if (options.lock) add(lock_urn, lock_options(*options.lock));
  if (options.idempotency_key) add(idempotency_urn, {{"key", *options.idempotency_key}});
  if (deadline) {
    // Never later than the caller said.
    const auto left = std::max(std::chrono::floor<milliseconds>(*deadline), milliseconds(1));
    add(deadline_urn, {{"value", left.count()}, {"unit", "millisecond"}});
  }
  for (const auto& each : options.extensions) add(each.urn, each.options);
  return out;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto next = model::first_code_point(text);
    if (next.bytes == 0) return false;
    text.remove_prefix(next.bytes);
  }
  return true;
}

}  // namespace

Result<void> check_call(const CallOptions& options) {
  if (options.function.empty() || options.function.size() > max_function_bytes) {
    return refuse_field("function", fmt::format("must have 1 to {} bytes", max_function_bytes));
  }
  if (options.timeout <= 0s || options.timeout > max_timeout) {
    return refuse_field("timeout", "must be more than nothing, and at most 24 h");
  }
  if (options.deadline && (*options.deadline < 1ms || *options.deadline > max_timeout)) {
    return refuse_field("deadline", "must be from 1 ms to 24 h");
  }
  const auto& key = options.idempotency_key;
  if (key && (key->empty() || key->size() > max_idempotency_key_bytes)) {
    return refuse_field("idempotency_key",
                        fmt::format("must have 1 to {} bytes", max_idempotency_key_bytes));
  }
  if (options.lock) {
    if (auto good = check_lock(*options.lock); !good) return good;
  }
  if (options.backoff) {
    if (auto good = check_backoff(*options.backoff); !good) return good;
  }
  return check_others(options);
}

std::string fresh_request_id() {
  constexpr std::uint64_t version_4 = 0x4000;
  constexpr std::uint64_t variant = 0x8000'0000'0000'0000;
  const auto high = (runtime::secure_random() & ~std::uint64_t{0xf000}) | version_4;
  const auto low = (runtime::secure_random() >> 2U) | variant;
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32U, (high >> 16U) & 0xffffU,
                     high & 0xffffU, low >> 48U, low & 0xffff'ffff'ffffU);
}

Result<std::string> encode_call(const CallOptions& options, std::string_view id,
                                std::optional<Duration> deadline) {
  json::object call{{"function", options.function}};
  if (!options.version.empty()) call.emplace("version", options.version);
  call.emplace("arguments", options.arguments);
  json::object request{{"protocol", {{"name", protocol_name}, {"version", protocol_version}}},
                       {"id", id},
                       {"call", std::move(call)}};
  if (!options.context.empty()) request.emplace("context", options.context);
  auto extensions = extensions_of(options, deadline);
  if (!extensions.empty()) request.emplace("extensions", std::move(extensions));
  auto bytes = json::serialize(request);
  if (!is_utf8(bytes)) return refuse_field("request", "has text that is not UTF-8");
  if (bytes.size() > max_request_bytes) {
    return refuse_field("request", fmt::format("has {} bytes; the protocol allows {}", bytes.size(),
                                               max_request_bytes));
  }
  return bytes;
}

}  // namespace holdfast::forrst
