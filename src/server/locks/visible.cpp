// SPDX-License-Identifier: Apache-2.0
#include "server/locks/visible.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::server {

namespace {

// What the caller wants to see and may see, as prefixes of which none covers another. The store is
// asked for these alone: its cursor names the last lock of a page, and must not name one that the
// caller may not know of.
std::vector<std::string> visible(const Principal& principal, const std::string& wanted) {
  if (principal.prefixes.empty()) return {wanted};
  std::vector<std::string> prefixes;
  for (const auto& each : principal.prefixes) {
    if (each.starts_with(wanted)) prefixes.push_back(each);
    if (wanted.starts_with(each)) return {wanted};
  }
  std::ranges::sort(prefixes);
  std::vector<std::string> apart;
  for (auto& each : prefixes) {
    if (apart.empty() || !each.starts_with(apart.back())) apart.push_back(std::move(each));
  }
  return apart;
}

// "<index of the prefix>:<the store's cursor>".
struct Place {
  std::size_t index = 0;
  std::string cursor;
};

Result<Place> parse_place(std::string_view text) {
  Place place;
  if (text.empty()) return place;
  const auto* end = text.data() + text.size();
  const auto [at, failed] = std::from_chars(text.data(), end, place.index);
  if (failed != std::errc{} || at == end || *at != ':') {
    return fail(Errc::bad_input, "cursor: must be the `next` of an earlier page");
  }
  place.cursor.assign(at + 1, end);
  return place;
}

Result<void> check_listing(const store::ListRequest& request) {
  if (request.limit < 1 || request.limit > max_page) {
    return fail(Errc::bad_input, fmt::format("limit: must be an integer from 1 to {}", max_page));
  }
  if (request.prefix.size() > max_name_bytes) {
    return fail(Errc::bad_input,
                fmt::format("prefix: must be at most {} bytes long", max_name_bytes));
  }
  return {};
}

}  // namespace

Task<Result<LockPage>> list_visible(std::shared_ptr<client::Core> core,
                                    std::shared_ptr<const Principal> principal,
                                    store::ListRequest request) {
  if (auto good = check_listing(request); !good) co_return std::unexpected(std::move(good.error()));
  auto parsed = parse_place(request.cursor);
  if (!parsed) co_return std::unexpected(std::move(parsed.error()));
  Place place = std::move(*parsed);
  const auto prefixes = visible(*principal, request.prefix);
  request.deadline = core->runtime().now() + client::command_timeout;
  LockPage page;
  while (place.index < prefixes.size() && page.locks.size() < request.limit) {
    store::ListRequest part = request;
    part.prefix = prefixes[place.index];
    part.cursor = std::move(place.cursor);
    part.limit = request.limit - static_cast<std::uint32_t>(page.locks.size());
    auto listing = core->store().list(std::move(part));
    Result<LockPage> more = co_await std::move(listing);
    if (!more) co_return std::unexpected(std::move(more.error()));
    std::ranges::move(more->locks, std::back_inserter(page.locks));
    place = more->next.empty() ? Place{place.index + 1, {}} : Place{place.index, more->next};
    if (!place.cursor.empty()) break;
  }
  if (place.index < prefixes.size()) page.next = fmt::format("{}:{}", place.index, place.cursor);
  co_return page;
}

}  // namespace holdfast::server
