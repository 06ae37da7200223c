// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/diagnosis.hpp"

#include "backends/redis/record.hpp"
#include "net/resp/command.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <utility>

namespace holdfast::backends::redis {

namespace {

using net::resp::command;
using net::resp::text_of;
using runtime::LocalTime;

using Findings = std::vector<std::string>;

constexpr Micros probe_ttl = std::chrono::seconds(1);
constexpr Micros far_apart = std::chrono::seconds(2);
constexpr int oldest_major = 6;
constexpr int oldest_minor = 2;
// A look over the keys is for people; it ends after this many.
constexpr int max_scans = 200;
constexpr std::size_t max_immortals_shown = 10;

store::Request probe(const LockName& name, model::LockSpec spec, LocalTime deadline,
                     decltype(model::LockCommand::verb) verb) {
  return {.name = name, .command = model::LockCommand{spec, std::move(verb)}, .deadline = deadline};
}

// "" if the server does not say.
Task<std::string> ask_text(std::shared_ptr<Server> server, std::string what, LocalTime deadline) {
  auto asking = server->ask(std::move(what), deadline);
  const Result<net::resp::Reply> reply = co_await std::move(asking);
  if (!reply) co_return std::string();
  const redisReply& answer = **reply;
  // CONFIG GET answers with the name and the value.
  if (answer.type == REDIS_REPLY_ARRAY && answer.elements == 2) {
    co_return std::string(text_of(*answer.element[1]));
  }
  co_return answer.type == REDIS_REPLY_STRING ? std::string(text_of(answer)) : std::string();
}

bool is_older(std::string_view version) {
  int major = 0;
  int minor = 0;
  const char* const end = version.data() + version.size();
  const auto [dot, failure] = std::from_chars(version.data(), end, major);
  if (failure != std::errc{} || dot == end) return false;
  std::from_chars(dot + 1, end, minor);
  return std::pair(major, minor) < std::pair(oldest_major, oldest_minor);
}

void judge_info(std::string_view info, const std::string& peer, Findings& found) {
  const auto policy = info_field(info, "maxmemory_policy");
  if (policy.starts_with("allkeys-")) {
    found.push_back(fmt::format(
        "{}: maxmemory-policy is {}: a full server evicts locks that are held; use noeviction",
        peer, policy));
  }
  if (info_field(info, "role") == "slave") {
    found.push_back(fmt::format("{}: is a replica; locks need the master", peer));
  }
  if (const auto version = info_field(info, "redis_version"); is_older(version)) {
    found.push_back(
        fmt::format("{}: is Redis {}; Holdfast is tested with 6.2 and newer", peer, version));
  }
}

void judge_persistence(std::string_view info, std::string_view appendfsync, std::string_view save,
                       const std::string& peer, Findings& found) {
  const auto aof = info_field(info, "aof_enabled");
  if (aof == "0") {
    found.push_back(
        fmt::format("{}: has no append-only file{}: a restart forgets locks that are held", peer,
                    save.empty() ? " and no snapshots" : ", only snapshots"));
  } else if (aof == "1" && !appendfsync.empty() && appendfsync != "always") {
    found.push_back(fmt::format(
        "{}: appendfsync is {}: a crash of the machine forgets the locks of the last second", peer,
        appendfsync));
  }
}

Task<bool> judge_clock(std::shared_ptr<Server> server, LocalTime deadline, Findings* found) {
  auto measuring = measure_clock_offset(server, deadline);
  const Result<Micros> offset = co_await std::move(measuring);
  if (!offset) co_return false;
  if (std::chrono::abs(*offset) > far_apart) {
    found->push_back(fmt::format(
        "{}: its clock is {} s {} ours; leases do not mind, but fences after a failover may",
        server->peer(), std::chrono::floor<std::chrono::seconds>(std::chrono::abs(*offset)).count(),
        *offset > Micros::zero() ? "ahead of" : "behind"));
  }
  co_return true;
}

// A counter whose EXPIRE never came holds its lock for ever.
Task<bool> look_for_immortals(std::shared_ptr<Server> server, LocalTime deadline, Findings* found) {
  std::string cursor = "0";
  std::size_t shown = 0;
  for (int scans = 0; scans < max_scans && shown < max_immortals_shown; ++scans) {
    auto scanning = server->ask(command("SCAN", cursor, "MATCH", server->dialect().scan_pattern(""),
                                        "COUNT", "500", "TYPE", server->dialect().scan_type()),
                                deadline);
    const Result<net::resp::Reply> reply = co_await std::move(scanning);
    if (!reply || (*reply)->elements != 2) co_return false;
    cursor = text_of(*(*reply)->element[0]);
    const redisReply& keys = *(*reply)->element[1];
    for (std::size_t i = 0; i < keys.elements && shown < max_immortals_shown; ++i) {
      const auto name = server->dialect().name_of_scanned(text_of(*keys.element[i]));
      if (!name) continue;
      const std::string key = server->dialect().shared_keys(*name).front();
      auto asking = server->ask(command("PTTL", key), deadline);
      const Result<net::resp::Reply> left = co_await std::move(asking);
      if (!left || (*left)->integer != -1) continue;
      ++shown;
      found->push_back(
          fmt::format("{}: '{}' has no ttl and holds its lock for ever; if its owner "
                      "is gone, free it with: redis-cli DEL '{}'",
                      server->peer(), key, key));
    }
    if (cursor == "0") break;
  }
  co_return true;
}

}  // namespace

Task<Result<void>> probe_rights(std::shared_ptr<Server> server, std::string channel,
                                LocalTime deadline) {
  const auto name = LockName::make(fmt::format("holdfast-probe-{}", channel)).value();
  const auto owner = OwnerId::make(channel).value();
  const Dialect& dialect = server->dialect();
  const bool reentrant = dialect.profile().dialect == "reentrant_hash";
  const auto spec = reentrant             ? model::LockSpec::reentrant()
                    : dialect.is_native() ? model::LockSpec::read_write()
                                          : model::LockSpec::mutex();
  model::Acquire take{.owner = owner,
                      .permits = reentrant || dialect.is_native() ? 1 : all_permits,
                      .ttl = probe_ttl};
  // The second one makes company of it, and tries what a lone holder does not need.
  for (const auto each : {model::RequestId{1}, model::RequestId{2}}) {
    take.request = each;
    auto taking = server->apply(probe(name, spec, deadline, take));
    const Result<store::Reply> taken = co_await std::move(taking);
    if (!taken) co_return std::unexpected(taken.error());
  }
  auto giving =
      server->apply(probe(name, spec, deadline, model::Release{owner, model::RequestId::any}));
  const Result<store::Reply> given = co_await std::move(giving);
  if (!given) co_return std::unexpected(given.error());
  auto telling = server->ask(command("PUBLISH", channel, ""), deadline);
  const Result<net::resp::Reply> told = co_await std::move(telling);
  if (!told) co_return std::unexpected(told.error());
  co_return Result<void>{};
}

Task<Result<Findings>> look_for_trouble(std::shared_ptr<Server> server,
                                        std::shared_ptr<const Subscription> subscription,
                                        LocalTime deadline) {
  auto reaching = server->connected(deadline);
  const Result<void> reached = co_await std::move(reaching);
  // A question that changes nothing leaves nothing unknown but its answer.
  if (!reached) co_return fail(Errc::unavailable, reached.error().message);
  Findings found = subscription->trouble();
  std::string info;
  for (const auto section : {"server", "memory", "replication", "persistence"}) {
    auto asking = ask_text(server, command("INFO", section), deadline);
    info += co_await std::move(asking);
  }
  auto asking_fsync = ask_text(server, command("CONFIG", "GET", "appendfsync"), deadline);
  const std::string appendfsync = co_await std::move(asking_fsync);
  auto asking_save = ask_text(server, command("CONFIG", "GET", "save"), deadline);
  const std::string save = co_await std::move(asking_save);
  judge_info(info, server->peer(), found);
  judge_persistence(info, appendfsync, save, server->peer(), found);
  auto comparing = judge_clock(server, deadline, &found);
  co_await std::move(comparing);
  if (!server->dialect().is_native()) {
    auto looking = look_for_immortals(server, deadline, &found);
    co_await std::move(looking);
  }
  co_return found;
}

Task<Result<Micros>> measure_clock_offset(std::shared_ptr<Server> server, LocalTime deadline) {
  const auto before = static_cast<std::int64_t>(runtime::wall_clock_us());
  auto asking = server->ask(command("TIME"), deadline);
  const Result<net::resp::Reply> reply = co_await std::move(asking);
  const auto after = static_cast<std::int64_t>(runtime::wall_clock_us());
  // A question that changes nothing leaves nothing unknown but its answer.
  if (!reply) co_return fail(Errc::unavailable, reply.error().message);
  if ((*reply)->type != REDIS_REPLY_ARRAY || (*reply)->elements != 2) {
    co_return fail(Errc::unavailable,
                   fmt::format("{}: its answer to TIME is not a time", server->peer()));
  }
  const auto seconds = parse_digits(text_of(*(*reply)->element[0])).value_or(0);
  const auto micros = parse_digits(text_of(*(*reply)->element[1])).value_or(0);
  const auto theirs = static_cast<std::int64_t>(seconds * 1'000'000 + micros);
  co_return Micros(theirs - (before + (after - before) / 2));
}

}  // namespace holdfast::backends::redis
