// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/history.hpp"

#include "backends/redis/record.hpp"
#include "net/resp/command.hpp"

namespace holdfast::backends::redis {

namespace {

using net::resp::text_of;

// The id of an entry begins with the server's clock in milliseconds.
std::chrono::system_clock::time_point time_of(std::string_view id) {
  const auto ms = parse_digits(id.substr(0, id.find('-'))).value_or(0);
  return std::chrono::system_clock::time_point(
      std::chrono::milliseconds(static_cast<std::int64_t>(ms)));
}

LockEvent event_from(const redisReply& entry) {
  LockEvent event;
  if (entry.type != REDIS_REPLY_ARRAY || entry.elements != 2) return event;
  event.at = time_of(text_of(*entry.element[0]));
  const redisReply& fields = *entry.element[1];
  for (std::size_t i = 0; i + 1 < fields.elements; i += 2) {
    const auto field = text_of(*fields.element[i]);
    const auto value = text_of(*fields.element[i + 1]);
    if (field == "event") event.what = value;
    if (field == "fence") event.fence = parse_digits(value).value_or(0);
    if (field == "permits") {
      event.permits = static_cast<std::uint32_t>(parse_digits(value).value_or(all_permits));
    }
    if (field == "metadata") event.metadata = parse_metadata(value);
  }
  return event;
}

}  // namespace

Task<Result<std::vector<LockEvent>>> read_history(std::shared_ptr<Server> server, LockName name,
                                                  std::uint32_t limit,
                                                  runtime::LocalTime deadline) {
  auto asking =
      server->ask(net::resp::command("XREVRANGE", server->dialect().state_key(name) + ":log", "+",
                                     "-", "COUNT", std::to_string(limit)),
                  deadline);
  const Result<net::resp::Reply> reply = co_await std::move(asking);
  if (!reply) co_return std::unexpected(reply.error());
  std::vector<LockEvent> events;
  for (std::size_t i = 0; i < (*reply)->elements; ++i) {
    events.push_back(event_from(*(*reply)->element[i]));
  }
  co_return events;
}

}  // namespace holdfast::backends::redis
