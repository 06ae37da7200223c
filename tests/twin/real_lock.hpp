// SPDX-License-Identifier: Apache-2.0
//
// One lock in a real Redis with the server's own clock, by the same bytes the store sends.
#pragma once

#include "backends/redis/keys.hpp"
#include "backends/redis/wire.hpp"
#include "support/ask.hpp"
#include "support/redis_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

// Of the keys that a server has: nothing is left of any lock.
inline auto only_counter() {
  return testing::ElementsAre(std::string(backends::redis::counter_key));
}

class RealLock : public testing::Test {
 protected:
  RealLock() { use({}); }

  void use(const backends::redis::Scripts::Options& options) {
    using backends::redis::Script;
    scripts_ = backends::redis::Scripts(options);
    for (const auto script : {Script::acquire, Script::renew, Script::release,
                              Script::force_release, Script::inspect}) {
      redis_.call({"SCRIPT", "LOAD", scripts_[script].text});
    }
  }

  // The outcome, or the server's error reply.
  Result<model::LockOutcome> ask(const model::LockCommand& command) {
    redis_.send(encode(scripts_, name_, command, {}));
    const auto reply = redis_.receive();
    if (net::resp::is_error(*reply)) {
      return fail(Errc::unavailable, std::string(net::resp::text_of(*reply)));
    }
    auto decoded = backends::redis::decode(command, *reply);
    if (!decoded) return std::unexpected(decoded.error());
    return std::get<model::LockOutcome>(decoded->outcome);
  }
  model::LockOutcome apply(const model::LockCommand& command) {
    auto outcome = ask(command);
    if (outcome) return *outcome;
    ADD_FAILURE() << outcome.error().message;
    return model::Refused{outcome.error()};
  }
  model::LockCommand to_acquire(const Ask& ask) const {
    return {spec_, to_command(spec_.kind, ask)};
  }
  model::LockCommand to_renew(std::string_view owner, Micros ttl = 10s) const {
    return {spec_, model::Renew{owner_named(owner), model::RequestId{1}, ttl}};
  }
  model::LockCommand to_agree(std::string_view owner, Fence fence, Micros ttl = 20ms) const {
    return {spec_, model::Renew{owner_named(owner), model::RequestId{1}, ttl, fence}};
  }
  model::LockCommand to_release(std::string_view owner, std::uint64_t request = 1) const {
    return {spec_, model::Release{owner_named(owner), model::RequestId{request}}};
  }
  model::LockCommand to_force() const { return {spec_, model::ForceRelease{}}; }

  model::LockOutcome acquire(const Ask& ask) { return apply(to_acquire(ask)); }
  model::LockOutcome renew(std::string_view owner, Micros ttl = 10s) {
    return apply(to_renew(owner, ttl));
  }
  model::LockOutcome release(std::string_view owner, std::uint64_t request = 1) {
    return apply(to_release(owner, request));
  }
  model::LockOutcome force_release() { return apply(to_force()); }

  model::LockState state() {
    redis_.send(encode(scripts_, name_, {spec_, model::Inspect{}}, {}));
    const auto snapshot = backends::redis::decode_snapshot(*redis_.receive());
    EXPECT_TRUE(snapshot.has_value()) << snapshot.error().message;
    return snapshot ? snapshot->state : model::LockState{};
  }
  std::vector<std::string> holders() {
    const auto seen = state();
    std::vector<std::string> owners;
    owners.reserve(seen.holds.size());
    for (const auto& hold : seen.holds) owners.push_back(hold.owner.str());
    return owners;
  }
  std::vector<std::string> waiters() {
    const auto seen = state();
    std::vector<std::string> owners;
    owners.reserve(seen.queue.size());
    for (const auto& [place, waiter] : seen.queue) owners.push_back(waiter.owner.str());
    return owners;
  }

  std::string key() const { return "hf:{" + name_.str() + "}"; }
  std::vector<std::string> keys() {
    std::vector<std::string> all;
    const auto reply = redis_.call({"KEYS", "*"});
    all.reserve(reply->elements);
    for (std::size_t i = 0; i < reply->elements; ++i) all.emplace_back(reply->element[i]->str);
    return all;
  }
  // Everything the server has, by key.
  std::map<std::string, std::string> contents() {
    std::map<std::string, std::string> all;
    for (const auto& each : keys()) all[each] = redis_.text({"DUMP", each});
    return all;
  }

  RedisServer server_;
  RawRedis redis_{server_};
  backends::redis::Scripts scripts_{{}};
  LockName name_ = LockName::make("lock").value();
  model::LockSpec spec_ = model::LockSpec::mutex();
};

}  // namespace holdfast::test
