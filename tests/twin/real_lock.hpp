// SPDX-License-Identifier: Apache-2.0
//
// One lock in a real Redis with the server's own clock, by the same bytes the store sends.
#pragma once

#include "backends/redis/keys.hpp"
#include "backends/redis/wire.hpp"
#include "support/ask.hpp"
#include "support/redis_server.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

class RealLock : public testing::Test {
 protected:
  RealLock() { use({}); }

  void use(const backends::redis::Scripts::Options& options) {
    using backends::redis::Script;
    scripts = backends::redis::Scripts(options);
    for (const auto script : {Script::acquire, Script::renew, Script::release,
                              Script::force_release, Script::inspect}) {
      redis.call({"SCRIPT", "LOAD", scripts[script].text});
    }
  }

  // The outcome, or the server's error reply.
  Result<model::LockOutcome> apply(const model::LockCommand& command) {
    redis.send(encode(scripts, name, command, {}));
    const auto reply = redis.receive();
    if (net::resp::is_error(*reply)) {
      return fail(Errc::unavailable, std::string(net::resp::text_of(*reply)));
    }
    auto decoded = backends::redis::decode(command, *reply);
    if (!decoded) return std::unexpected(decoded.error());
    return std::get<model::LockOutcome>(decoded->outcome);
  }
  Result<model::LockOutcome> acquire(const Ask& ask) {
    return apply({spec, to_command(spec.kind, ask)});
  }
  Result<model::LockOutcome> renew(std::string_view owner, Micros ttl = 10s) {
    return apply({spec, model::Renew{owner_named(owner), model::RequestId{1}, ttl}});
  }
  Result<model::LockOutcome> release(std::string_view owner, std::uint64_t request = 1) {
    return apply({spec, model::Release{owner_named(owner), model::RequestId{request}}});
  }
  Result<model::LockOutcome> force_release() { return apply({spec, model::ForceRelease{}}); }
  model::LockState state() {
    redis.send(encode(scripts, name, {spec, model::Inspect{}}, {}));
    const auto snapshot = backends::redis::decode_snapshot(*redis.receive());
    EXPECT_TRUE(snapshot.has_value()) << snapshot.error().message;
    return snapshot ? snapshot->state : model::LockState{};
  }
  std::vector<std::string> holders() {
    std::vector<std::string> owners;
    for (const auto& hold : state().holds) owners.push_back(hold.owner.str());
    return owners;
  }
  std::vector<std::string> waiters() {
    const auto seen = state();
    std::vector<std::string> owners;
    for (const auto& [place, waiter] : seen.queue) owners.push_back(waiter.owner.str());
    return owners;
  }

  std::string key() const { return "hf:{" + name.str() + "}"; }
  std::vector<std::string> keys() {
    std::vector<std::string> all;
    const auto reply = redis.call({"KEYS", "*"});
    for (std::size_t i = 0; i < reply->elements; ++i) all.emplace_back(reply->element[i]->str);
    return all;
  }
  // Everything the server has, by key.
  std::map<std::string, std::string> contents() {
    std::map<std::string, std::string> all;
    for (const auto& each : keys()) all[each] = redis.text({"DUMP", each});
    return all;
  }

  RedisServer server;
  RawRedis redis{server};
  backends::redis::Scripts scripts{{}};
  LockName name = LockName::make("lock").value();
  model::LockSpec spec = model::LockSpec::mutex();
};

}  // namespace holdfast::test
