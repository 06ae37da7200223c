// SPDX-License-Identifier: Apache-2.0
#include "forrst/orders.hpp"

#include "forrst/duration.hpp"
#include "forrst/lock_key.hpp"
#include "text/json.hpp"
#include "text/rfc3339.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace holdfast::forrst {

namespace {

namespace json = boost::json;

constexpr Duration max_deadline = std::chrono::hours(24);
constexpr Duration max_once_ttl = std::chrono::days(30);
constexpr Duration default_once_ttl = std::chrono::hours(24);
constexpr std::size_t max_once_key = 255;

struct Place {
  std::string extension;  // "/extensions/0"
  std::string options;    // "/extensions/0/options"
};

Fault wrong(std::string pointer, std::string message) {
  return {.code = std::string(codes::invalid_arguments),
          .message = std::move(message),
          .pointer = std::move(pointer)};
}

std::optional<Duration> read_duration(const json::value& value, const std::string& pointer,
                                      const DurationRule& rule, std::vector<Fault>& faults) {
  const auto parsed = parse_duration(value, rule);
  if (parsed) return *parsed;
  const auto& bad = parsed.error();
  faults.push_back(
      wrong(bad.member.empty() ? pointer : pointer_to(pointer, bad.member), bad.message));
  return std::nullopt;
}

// How long until a point in time, by this machine's clock.
std::optional<Duration> read_moment(const json::value& value, std::string pointer,
                                    std::vector<Fault>& faults) {
  const auto* text = value.if_string();
  const auto moment = text != nullptr ? text::parse_rfc3339(*text) : std::nullopt;
  if (!moment) {
    faults.push_back(wrong(std::move(pointer),
                           "Deadline must be a time such as "
                           "2026-11-16T12:00:00Z"));
    return std::nullopt;
  }
  // In microseconds: nanoseconds end in the year 2262.
  const auto left = *moment - std::chrono::floor<Micros>(std::chrono::system_clock::now());
  return std::clamp<Duration>(std::chrono::duration_cast<Duration>(left), Duration::zero(),
                              max_deadline);
}

// {value, unit}, {timeout: {value, unit}}, {value: TIME, unit: "iso8601"} or {deadline: TIME}.
std::optional<DeadlineOrder> parse_deadline(const json::object& options, const Place& place,
                                            std::vector<Fault>& faults) {
  const DurationRule rule{.what = "Deadline", .most = max_deadline, .allows_milliseconds = true};
  std::optional<Duration> read;
  const auto* unit = options.if_contains("unit");
  if (const auto* moment = options.if_contains("deadline")) {
    read = read_moment(*moment, pointer_to(place.options, "deadline"), faults);
  } else if (const auto* timeout = options.if_contains("timeout")) {
    read = read_duration(*timeout, pointer_to(place.options, "timeout"), rule, faults);
  } else if (unit != nullptr && unit->is_string() && unit->get_string() == "iso8601") {
    const auto* value = options.if_contains("value");
    read = read_moment(value != nullptr ? *value : json::value(),
                       pointer_to(place.options, "value"), faults);
  } else {
    read = read_duration(options, place.options, rule, faults);
  }
  if (!read) return std::nullopt;
  return DeadlineOrder{*read};
}

std::optional<OnceOrder> parse_idempotency(const json::object& options, const Place& place,
                                           std::vector<Fault>& faults) {
  OnceOrder order{.key = {}, .ttl = default_once_ttl};
  const auto before = faults.size();
  const auto pointer = pointer_to(place.options, "key");
  const auto* key = options.if_contains("key");
  const auto* text = key != nullptr ? key->if_string() : nullptr;
  if (text == nullptr || text->empty()) {
    faults.push_back(wrong(pointer, "Idempotency key is required"));
  } else if (text->size() > max_once_key || !has_key_letters_only(*text)) {
    faults.push_back(wrong(pointer, fmt::format("Idempotency key must be at most {} letters, "
                                                "digits and -_:.",
                                                max_once_key)));
  } else {
    order.key = *text;
  }
  if (const auto* ttl = options.if_contains("ttl")) {
    const auto read = read_duration(*ttl, pointer_to(place.options, "ttl"),
                                    {.what = "Idempotency TTL", .most = max_once_ttl}, faults);
    order.ttl = read.value_or(order.ttl);
  }
  if (faults.size() != before) return std::nullopt;
  return order;
}

std::optional<LimitOrder> parse_rate_limit(const json::object& options, const Place& place,
                                           std::vector<Fault>& faults) {
  constexpr std::array<std::string_view, 4> scopes{"global", "service", "function", "user"};
  const auto* scope = options.if_contains("scope");
  if (scope == nullptr) return LimitOrder{};
  const auto* text = scope->if_string();
  if (text != nullptr && std::ranges::find(scopes, std::string_view(*text)) != scopes.end()) {
    return LimitOrder{std::string(*text)};
  }
  faults.push_back(wrong(pointer_to(place.options, "scope"),
                         "Rate limit scope must be global, service, function or user"));
  return std::nullopt;
}

bool applies(const Function& function, Extension extension) {
  const auto name = name_of(extension);
  const auto& supported = function.supported_extensions;
  if (!supported.empty()) return std::ranges::find(supported, name) != supported.end();
  const auto& excluded = function.excluded_extensions;
  return std::ranges::find(excluded, name) == excluded.end();
}

Fault not_applicable(const Envelope& envelope, const Requested& requested, std::string pointer) {
  return {.code = std::string(codes::extension_not_applicable),
          .message =
              fmt::format("Extension not applicable to {}: {}", envelope.function, requested.urn),
          .pointer = std::move(pointer),
          .details = {{"extension", requested.urn}, {"function", envelope.function}}};
}

Fault not_supported(const Requested& requested, std::string pointer) {
  json::array supported;
  for (std::size_t each = 0; each < extension_count; ++each) {
    supported.emplace_back(urn_of(static_cast<Extension>(each)));
  }
  return {.code = std::string(codes::extension_not_supported),
          .message = fmt::format("Extension not supported: {}", requested.urn),
          .pointer = std::move(pointer),
          .details = {{"unsupported", json::array{requested.urn}}, {"supported", supported}}};
}

void parse_one(Extension extension, const json::object& options, const Place& place,
               const Envelope& envelope, std::string_view prefix, Orders& orders,
               std::vector<Fault>& faults) {
  switch (extension) {
    case Extension::atomic_lock:
      orders.lock = parse_lock(options, place.options, envelope.function, prefix, faults);
      return;
    case Extension::deadline: orders.deadline = parse_deadline(options, place, faults); return;
    case Extension::idempotency: orders.once = parse_idempotency(options, place, faults); return;
    case Extension::rate_limit: orders.limit = parse_rate_limit(options, place, faults); return;
    case Extension::retry: return;
  }
}

}  // namespace

Orders parse_orders(const Envelope& envelope, const Registered& function,
                    const ServiceOptions& options, std::vector<Fault>& faults) {
  Orders orders;
  for (std::size_t index = 0; index < envelope.extensions.size(); ++index) {
    const auto& requested = envelope.extensions[index];
    const auto here = fmt::format("/extensions/{}", index);
    const Place place{here, here + "/options"};
    const auto extension = known_extension(requested.urn);
    if (!extension) {
      if (options.is_strict) faults.push_back(not_supported(requested, here));
      continue;
    }
    const bool is_second = std::ranges::any_of(
        orders.asked, [&](const auto& before) { return before.first == *extension; });
    if (is_second) {
      faults.push_back({.code = std::string(codes::invalid_request),
                        .message = fmt::format("Extension requested twice: {}", requested.urn),
                        .pointer = here});
      continue;
    }
    if (!applies(function.function, *extension)) {
      faults.push_back(not_applicable(envelope, requested, here));
      continue;
    }
    orders.asked.emplace_back(*extension, requested.urn);
    parse_one(*extension, requested.options, place, envelope, options.prefix, orders, faults);
  }
  return orders;
}

}  // namespace holdfast::forrst
