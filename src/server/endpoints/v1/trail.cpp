// SPDX-License-Identifier: Apache-2.0
//
// GET /v1/audit: who did what. Reads files, so it runs on a thread of its own.
#include "server/audit/audit_log.hpp"
#include "server/http/answer.hpp"
#include "server/http/call.hpp"
#include "server/reader_thread.hpp"
#include "server/services.hpp"
#include "text/rfc3339.hpp"

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include <array>
#include <charconv>

namespace holdfast::server {
namespace {

template <typename T>
Result<T> number(std::string_view field, std::string_view text) {
  T value{};
  const auto* end = text.data() + text.size();
  const auto [at, failed] = std::from_chars(text.data(), end, value);
  if (failed == std::errc{} && at == end) return value;
  return fail(Errc::bad_input, fmt::format("{}: must be an integer", field));
}

Result<std::string> time(std::string_view field, std::string_view text) {
  if (const auto parsed = text::parse_rfc3339(text)) return text::format_time(*parsed);
  return fail(Errc::bad_input,
              fmt::format("{}: must be a time such as 2026-11-15T21:30:00Z", field));
}

template <typename T, typename U>
Result<void> put(T& place, Result<U> value) {
  if (!value) return std::unexpected(std::move(value.error()));
  place = std::move(*value);
  return {};
}

Result<void> take(AuditQuery& query, std::string_view name, std::string value) {
  if (name == "prefix") return put<std::string, std::string>(query.prefix, std::move(value));
  if (name == "what") return put<std::string, std::string>(query.what, std::move(value));
  if (name == "principal") return put<std::string, std::string>(query.principal, std::move(value));
  if (name == "since") return put(query.since, time(name, value));
  if (name == "until") return put(query.until, time(name, value));
  if (name == "limit") return put(query.limit, number<std::size_t>(name, value));
  if (name == "cursor") return put(query.cursor, number<std::uint64_t>(name, value));
  return fail(Errc::bad_input,
              "query: only prefix, what, principal, since, until, cursor and limit are known");
}

Result<AuditQuery> parse_audit_query(const Call& call) {
  auto parsed = call.query();
  if (!parsed) return std::unexpected(std::move(parsed.error()));
  AuditQuery query;
  for (auto& [name, value] : *parsed) {
    if (auto taken = take(query, name, std::move(value)); !taken) {
      return std::unexpected(std::move(taken.error()));
    }
  }
  query.allowed = [principal = call.principal](std::string_view name) {
    return name.empty() ? principal->prefixes.empty() : principal->may(Verb::read, name);
  };
  return query;
}

Response encode(const Result<AuditPage>& page) {
  if (!page) return answer(page.error());
  boost::json::array entries;
  for (const auto& each : page->entries) entries.emplace_back(each);
  return answer(200, {{"entries", std::move(entries)},
                      {"next", page->next ? boost::json::value(std::to_string(*page->next))
                                          : boost::json::value(nullptr)},
                      {"unreadable", page->unreadable}});
}

Task<Response> read_trail(Services& services, AuditQuery query) {
  OnReader<Result<AuditPage>> reading(services.reader, [&services, query = std::move(query)] {
    return services.audit().page(query);
  });
  const Result<AuditPage> page = co_await reading;
  co_return encode(page);
}

Task<Response> audit(const Call& call) {
  auto query = parse_audit_query(call);
  if (!query) return done(answer(query.error()));
  return read_trail(call.services, std::move(*query));
}

constexpr std::array trail_table{Route{Method::get, "/v1/audit", Access::admin, audit}};

}  // namespace

extern const std::span<const Route> trail_routes;
const std::span<const Route> trail_routes = trail_table;

}  // namespace holdfast::server
