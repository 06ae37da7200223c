// SPDX-License-Identifier: Apache-2.0
#include "server/endpoints/v1/encode.hpp"

#include <boost/json/array.hpp>
#include <fmt/format.h>

namespace holdfast::server {

namespace json = boost::json;

json::object lease_json(std::string_view name, std::string_view owner, const Taken& taken) {
  auto lease = text::to_json(
      text::LeaseFields{
          .name = name, .owner = owner, .fence = taken.fence, .remaining = taken.remaining},
      wall_now());
  lease["waited_ms"] = std::chrono::floor<std::chrono::milliseconds>(taken.waited).count();
  return lease;
}

Response refusal(const NotTaken& not_taken, Kind kind) {
  if (not_taken.error.code != Errc::busy) return answer(not_taken.error);
  json::array holders;
  for (const auto& holder : not_taken.holders) {
    holders.emplace_back(text::to_json(holder, kind, wall_now()));
  }
  const auto retry_ms = std::chrono::ceil<std::chrono::milliseconds>(not_taken.retry_after).count();
  auto response =
      answer(not_taken.error, {{"holders", std::move(holders)}, {"retry_after_ms", retry_ms}});
  set_retry_after(response, not_taken.retry_after);
  return response;
}

Error not_held_or_not_yours(std::string_view name) {
  return {Errc::not_held, fmt::format("nobody holds '{}', or your token does not cover it", name)};
}

}  // namespace holdfast::server
