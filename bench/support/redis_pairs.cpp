// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/wire.hpp"
#include "net/resp/command.hpp"
#include "support/bars.hpp"
#include "support/redis.hpp"

namespace holdfast::bench {

namespace {

using backends::redis::Script;
using backends::redis::Scripts;

constexpr const char* ttl_ms = "30000";
constexpr long long released_by_step = 4;
constexpr long long deleted = 1;

constexpr const char* minimal_acquire =
    "if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then "
    "return redis.call('INCR', KEYS[2]) end return 0";
constexpr const char* compare_and_delete =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

std::string load(RawRedis& redis, const std::string& text) {
  return redis.text({"SCRIPT", "LOAD", text});
}

}  // namespace

std::string resp(const std::vector<std::string>& words) {
  net::resp::Command command(words.size());
  for (const std::string& word : words) command.add(word);
  return std::move(command).take();
}

std::vector<PairBytes> holdfast_pairs(RawRedis& redis, std::size_t names) {
  const Scripts scripts({});
  load(redis, scripts[Script::acquire].text);
  load(redis, scripts[Script::release].text);
  const auto metadata = shared_metadata();
  const auto bytes = [&](const store::Request& request, bool compare_clock) {
    return encode(scripts, request.name, std::get<model::LockCommand>(request.command),
                  {.compare_clock = compare_clock});
  };
  std::vector<PairBytes> pairs;
  std::uint64_t request = 0;
  for (const Party& party : make_parties(names)) {
    const auto acquire = acquire_request(party, request, metadata);
    pairs.push_back(
        {bytes(acquire, false), bytes(release_request(party, request), false), released_by_step});
    // The first command of a connection, once.
    if (request == 0) {
      redis.send(bytes(acquire, true));
      expect_acquired(redis.receive());
      redis.send(pairs.back().release);
      expect_released(pairs.back(), redis.receive());
    }
    ++request;
  }
  return pairs;
}

std::vector<PairBytes> minimal_pairs(RawRedis& redis, std::size_t names) {
  const std::string acquire = load(redis, minimal_acquire);
  const std::string release = load(redis, compare_and_delete);
  std::vector<PairBytes> pairs;
  for (const Party& party : make_parties(names)) {
    const std::string key = "lock:" + party.name.str();
    const std::string owner(party.owner.view());
    pairs.push_back({resp({"EVALSHA", acquire, "2", key, key + ":token", owner, ttl_ms}),
                     resp({"EVALSHA", release, "1", key, owner}), deleted});
  }
  return pairs;
}

std::vector<PairBytes> bare_pairs(RawRedis& redis, std::size_t names) {
  const std::string release = load(redis, compare_and_delete);
  std::vector<PairBytes> pairs;
  for (const Party& party : make_parties(names)) {
    const std::string key = "lock:" + party.name.str();
    const std::string owner(party.owner.view());
    pairs.push_back({resp({"SET", key, owner, "NX", "PX", ttl_ms}),
                     resp({"EVALSHA", release, "1", key, owner}), deleted});
  }
  return pairs;
}

void expect_acquired(const net::resp::Reply& reply) {
  const bool was_set = reply->type == REDIS_REPLY_STATUS;
  const bool has_fence = reply->type == REDIS_REPLY_INTEGER && reply->integer > 0;
  if (!was_set && !has_fence) give_up("a free lock was not granted by the server");
}

void expect_released(const PairBytes& pair, const net::resp::Reply& reply) {
  if (reply->type == REDIS_REPLY_INTEGER && reply->integer == pair.released) return;
  give_up("a held lock was not released by the server");
}

}  // namespace holdfast::bench
