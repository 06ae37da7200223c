// SPDX-License-Identifier: Apache-2.0
#include "server/endpoints/patterns/order.hpp"

#include "server/endpoints/patterns/voters.hpp"
#include "server/http/fields.hpp"
#include "server/options.hpp"
#include "server/services.hpp"
#include "server/upstreams.hpp"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace holdfast::server::patterns {

namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

constexpr std::size_t max_word_bytes = 64;
constexpr std::array<std::string_view, 5> methods{"POST", "PUT", "PATCH", "DELETE", "GET"};

std::uint64_t in_ms(Duration duration) {
  return static_cast<std::uint64_t>(std::chrono::floor<milliseconds>(duration).count());
}

std::optional<Micros> ms_field(Fields& fields, std::string_view name, Duration least,
                               Duration most) {
  const auto number = fields.number(name, in_ms(least), in_ms(most));
  if (!number) return std::nullopt;
  return milliseconds(*number);
}

// Any value at all, so it is taken out before the fields are read.
std::optional<std::string> take_payload(json::object& body) {
  auto* const found = body.if_contains("body");
  if (found == nullptr) return std::nullopt;
  auto text = json::serialize(*found);
  body.erase("body");
  return text;
}

Micros any_duration(const PatternOptions& options, std::uint64_t random) {
  const auto span = in_ms(options.max_duration - options.min_duration) + 1;
  return options.min_duration + milliseconds(random % span);
}

Operation operation_from(Fields& fields, std::optional<std::string> payload, Services& services) {
  const auto& options = services.options().patterns;
  const auto duration = ms_field(fields, "durationMs", {}, max_operation);
  const auto upstream = fields.text("upstream", max_word_bytes);
  const auto method = fields.text("method", max_word_bytes);
  if (upstream && duration) fields.refuse("durationMs", "an upstream takes as long as it takes");
  if (upstream && !services.upstreams.has(*upstream)) {
    fields.refuse("upstream", "there is none of this name in server.patterns.upstreams");
  }
  if (!upstream && method) fields.refuse("method", "is for an upstream, and none is named");
  if (!upstream && payload) fields.refuse("body", "is for an upstream, and none is named");
  if (method && std::ranges::find(methods, *method) == methods.end()) {
    fields.refuse("method", "must be POST, PUT, PATCH, DELETE or GET");
  }
  return {.duration = duration.value_or(any_duration(options, services.core().runtime().random())),
          .upstream = std::string(upstream.value_or("")),
          .method = std::string(method.value_or("POST")),
          .body = std::move(payload).value_or("")};
}

// A writer unless it says otherwise: to be alone is never wrong.
Result<std::uint32_t> permits_from(const Call& call, const Pattern& pattern) {
  const auto query = call.query();
  if (!query) return std::unexpected(query.error());
  const std::uint32_t usual = pattern.kind == Kind::reentrant ? 1 : all_permits;
  if (query->empty()) return usual;
  const auto mode = query->find("mode");
  if (pattern.kind != Kind::read_write) {
    return fail(Errc::bad_input, "query: only read-write has one, mode=read or mode=write");
  }
  if (query->size() == 1 && mode != query->end() && mode->second == "read") return 1U;
  if (query->size() == 1 && mode != query->end() && mode->second == "write") return all_permits;
  return fail(Errc::bad_input, "mode: must be read or write, and nothing else is asked");
}

struct Times {
  Micros ttl{};
  Micros wait{};
};

Times times_from(Fields& fields, const Pattern& pattern, const PatternOptions& options) {
  const auto ttl = ms_field(fields, "ttlMs", min_ttl, max_ttl);
  const auto wait = ms_field(fields, "waitMs", {}, max_wait);
  if (wait && !pattern.may_wait) {
    fields.refuse("waitMs", fmt::format("{} does not wait; retry and fair do", pattern.word));
  }
  return {ttl.value_or(pattern.ttl_with(options)), wait.value_or(pattern.wait)};
}

struct Entry {
  std::optional<std::string_view> owner;
  std::uint32_t depth = 1;
};

Entry entry_from(Fields& fields, const Pattern& pattern) {
  const auto owner = fields.text("owner", max_owner_bytes);
  const auto depth = fields.number("depth", 1, max_depth);
  const bool reenters = pattern.kind == Kind::reentrant;
  if (owner && !reenters) fields.refuse("owner", "only reentrant has one");
  if (depth && !reenters) fields.refuse("depth", "only reentrant has one");
  return {owner, static_cast<std::uint32_t>(depth.value_or(1))};
}

}  // namespace

Result<PatternOrder> parse_order(const Call& call, const Pattern& pattern) {
  auto& services = call.services;
  auto& core = pattern.is_a_vote ? *services.voters.core : services.core();
  const auto& resource = call.parameters[1];
  auto name = LockName::make(pattern.lock_name(resource));
  if (!name) return std::unexpected(std::move(name.error()));
  auto permits = permits_from(call, pattern);
  if (!permits) return std::unexpected(std::move(permits.error()));
  auto body = call.body();
  if (!body) return std::unexpected(std::move(body.error()));
  auto payload = take_payload(*body);
  Fields fields(*body);
  auto operation = operation_from(fields, std::move(payload), services);
  const auto times = times_from(fields, pattern, services.options().patterns);
  const auto entry = entry_from(fields, pattern);
  if (auto good = fields.done(); !good) return std::unexpected(std::move(good.error()));
  auto owner = entry.owner ? OwnerId::make(*entry.owner) : Result<OwnerId>(core.fresh_owner());
  if (!owner) return std::unexpected(std::move(owner.error()));
  if (auto good = core.store().supports(pattern.spec()); !good) {
    return std::unexpected(std::move(good.error()));
  }
  return PatternOrder{
      .pattern = pattern,
      .resource = resource,
      .wanted = {.name = std::move(*name),
                 .spec = pattern.spec(),
                 .owner = std::move(*owner),
                 .permits = *permits,
                 .ttl = times.ttl,
                 .wait = times.wait,
                 .retry = pattern.asks_again,
                 .metadata = core.metadata(fmt::format("pattern {}", pattern.word), {}, {})},
      .terms = {.ttl = times.ttl, .renew = pattern.is_renewed},
      .operation = std::move(operation),
      .depth = entry.depth};
}

}  // namespace holdfast::server::patterns
