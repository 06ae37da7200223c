// SPDX-License-Identifier: Apache-2.0
//
// GET /v1/audit: who did what. Reads files, so it runs on a thread of its own.
#include "server/http/answer.hpp"
#include "server/http/call.hpp"
#include "server/reader_thread.hpp"
#include "server/services.hpp"

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

Result<AuditQuery> parse(const Call& call) {
  auto parsed = call.query();
  if (!parsed) return std::unexpected(std::move(parsed.error()));
  AuditQuery query;
  for (auto& [name, value] : *parsed) {
    if (name == "prefix") {
      query.prefix = std::move(value);
    } else if (name == "limit") {
      auto limit = number<std::size_t>(name, value);
      if (!limit) return std::unexpected(std::move(limit.error()));
      query.limit = *limit;
    } else if (name == "cursor") {
      auto cursor = number<std::uint64_t>(name, value);
      if (!cursor) return std::unexpected(std::move(cursor.error()));
      query.cursor = *cursor;
    } else {
      return fail(Errc::bad_input, "query: only prefix, cursor and limit are known");
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

Task<Response> read(Services& services, AuditQuery query) {
  OnReader<Result<AuditPage>> reading(services.reader, [&services, query = std::move(query)] {
    return services.audit().page(query);
  });
  const Result<AuditPage> page = co_await reading;
  co_return encode(page);
}

Task<Response> audit(const Call& call) {
  auto query = parse(call);
  if (!query) return done(answer(query.error()));
  return read(call.services, std::move(*query));
}

constexpr std::array routes{Route{Method::get, "/v1/audit", Access::admin, audit}};

}  // namespace

extern const std::span<const Route> trail_routes;
const std::span<const Route> trail_routes = routes;

}  // namespace holdfast::server
