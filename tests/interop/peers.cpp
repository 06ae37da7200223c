// SPDX-License-Identifier: Apache-2.0
#include "peers.hpp"

#include "php.hpp"

#include <stdexcept>

namespace holdfast::test {

namespace {

using Words = std::vector<std::string>;

std::string in_seconds(milliseconds ttl) {
  return std::to_string(std::chrono::ceil<std::chrono::seconds>(ttl).count());
}

bool says_one(RawRedis& redis, const Words& words) { return redis.integer(words) == 1; }

// A string whose value is the token.
class StringKey : public Protocol {
 public:
  bool take(RawRedis& redis, const std::string& key, const std::string& token,
            milliseconds ttl) const override {
    return redis.text({"SET", key, token, "NX", "PX", std::to_string(ttl.count())}) == "OK";
  }
  bool release(RawRedis& redis, const std::string& key, const std::string& token) const override {
    return says_one(redis, {"EVAL",
                            "local held = redis.call('GET', KEYS[1]) "
                            "if held ~= ARGV[1] then return 0 end "
                            "return redis.call('DEL', KEYS[1])",
                            "1", key, token});
  }
  std::optional<std::string> holder(RawRedis& redis, const std::string& key) const override {
    const auto reply = redis.call({"GET", key});
    if (reply->type != REDIS_REPLY_STRING) return std::nullopt;
    return std::string(net::resp::text_of(*reply));
  }
};

class StringKeyInSeconds : public StringKey {
 public:
  bool take(RawRedis& redis, const std::string& key, const std::string& token,
            milliseconds ttl) const override {
    return redis.text({"SET", key, token, "EX", in_seconds(ttl), "NX"}) == "OK";
  }
};

// PHP's Forrst server: the same, and three texts.
class DescribedStringKey : public StringKey {
 public:
  bool take(RawRedis& redis, const std::string& key, const std::string& token,
            milliseconds ttl) const override {
    return ForrstServer(redis, key).acquire(token, std::chrono::ceil<std::chrono::seconds>(ttl));
  }
  bool release(RawRedis& redis, const std::string& key, const std::string& token) const override {
    return ForrstServer(redis, key).auto_release(token);
  }
  Words keys(const std::string& key) const override {
    return {key, key + ":meta:owner", key + ":meta:acquired_at", key + ":meta:expires_at"};
  }
};

// Looks at all keys of its lock before it sets them, in one script.
class StringKeyByScript : public StringKey {
 public:
  bool take(RawRedis& redis, const std::string& key, const std::string& token,
            milliseconds ttl) const override {
    return says_one(redis, {"EVAL",
                            "for _, key in ipairs(KEYS) do "
                            "if redis.call('EXISTS', key) == 1 then return 0 end end "
                            "for _, key in ipairs(KEYS) do "
                            "redis.call('SET', key, ARGV[1], 'PX', ARGV[2]) end return #KEYS",
                            "1", key, token, std::to_string(ttl.count())});
  }
};

// n8n's primitives: a counter and a text, and each command by itself.
class Counter : public Protocol {
 public:
  bool take(RawRedis& redis, const std::string& key, const std::string& token,
            milliseconds ttl) const override {
    const auto count = redis.integer({"INCR", key});
    redis.call({"EXPIRE", key, in_seconds(ttl)});
    if (count != 1) return false;
    redis.call({"SET", key + ":meta", text_with(token)});
    redis.call({"EXPIRE", key + ":meta", in_seconds(ttl)});
    return true;
  }
  bool release(RawRedis& redis, const std::string& key, const std::string& token) const override {
    const auto found = holder(redis, key);
    if (found && *found != token) return false;
    redis.call({"DEL", key});
    redis.call({"DEL", key + ":meta"});
    return found.has_value();
  }
  std::optional<std::string> holder(RawRedis& redis, const std::string& key) const override {
    const auto text = redis.text({"GET", key + ":meta"});
    if (text.empty()) return std::nullopt;
    constexpr std::string_view before = R"({"lock_id":")";
    if (!text.starts_with(before)) return text;
    return text.substr(before.size(), text.find('"', before.size()) - before.size());
  }
  Words keys(const std::string& key) const override { return {key, key + ":meta"}; }

 private:
  static std::string text_with(const std::string& token) {
    return R"({"lock_id":")" + token +
           R"(","workflow_id":"wf","workflow_name":"nightly","execution_id":"4711",)"
           R"("locked_at":"2026-11-16T03:45:12.345Z"})";
  }
};

// Redisson's RLock: a hash of owner and depth, and a channel.
class DepthByOwner : public Protocol {
 public:
  bool take(RawRedis& redis, const std::string& key, const std::string& token,
            milliseconds ttl) const override {
    const auto reply = redis.call({"EVAL",
                                   "local free = redis.call('EXISTS', KEYS[1]) == 0 "
                                   "if free or redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then "
                                   "redis.call('HINCRBY', KEYS[1], ARGV[2], 1) "
                                   "redis.call('PEXPIRE', KEYS[1], ARGV[1]) return false end "
                                   "return redis.call('PTTL', KEYS[1])",
                                   "1", key, std::to_string(ttl.count()), token});
    return reply->type == REDIS_REPLY_NIL;
  }
  bool release(RawRedis& redis, const std::string& key, const std::string& token) const override {
    return says_one(redis, {"EVAL",
                            "if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end "
                            "if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) > 0 then return 1 end "
                            "redis.call('DEL', KEYS[1]) redis.call('PUBLISH', KEYS[2], '0') "
                            "return 1",
                            "2", key, "redisson_lock__channel:{" + key + "}", token});
  }
  std::optional<std::string> holder(RawRedis& redis, const std::string& key) const override {
    const auto fields = redis.call({"HKEYS", key});
    if (fields->type != REDIS_REPLY_ARRAY || fields->elements != 1) return std::nullopt;
    return std::string(net::resp::text_of(*fields->element[0]));
  }
  std::string type() const override { return "hash"; }
};

// The guide's re-entrant lock: a hash of clientId and count.
class OwnerAndDepth : public Protocol {
 public:
  bool take(RawRedis& redis, const std::string& key, const std::string& token,
            milliseconds ttl) const override {
    return says_one(redis, {"EVAL",
                            "local held = redis.call('HGET', KEYS[1], 'clientId') "
                            "if held and held ~= ARGV[1] then return 0 end "
                            "redis.call('HSET', KEYS[1], 'clientId', ARGV[1]) "
                            "redis.call('HINCRBY', KEYS[1], 'count', 1) "
                            "return redis.call('PEXPIRE', KEYS[1], ARGV[2])",
                            "1", key, token, std::to_string(ttl.count())});
  }
  bool release(RawRedis& redis, const std::string& key, const std::string& token) const override {
    return says_one(redis, {"EVAL",
                            "if redis.call('HGET', KEYS[1], 'clientId') ~= ARGV[1] then return 0 "
                            "end if redis.call('HINCRBY', KEYS[1], 'count', -1) <= 0 then "
                            "redis.call('DEL', KEYS[1]) end return 1",
                            "1", key, token});
  }
  std::optional<std::string> holder(RawRedis& redis, const std::string& key) const override {
    const auto reply = redis.call({"HGET", key, "clientId"});
    if (reply->type != REDIS_REPLY_STRING) return std::nullopt;
    return std::string(net::resp::text_of(*reply));
  }
  std::string type() const override { return "hash"; }
};

constexpr auto hex = "[0-9a-f]{32}";
constexpr auto uuid = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";

}  // namespace

std::vector<Peer> every_peer() {
  const auto plain = std::make_shared<StringKey>();
  const auto in_seconds = std::make_shared<StringKeyInSeconds>();
  const auto described = std::make_shared<DescribedStringKey>();
  const auto by_script = std::make_shared<StringKeyByScript>();
  const auto counter = std::make_shared<Counter>();
  const auto redisson = std::make_shared<DepthByOwner>();
  const auto guide = std::make_shared<OwnerAndDepth>();
  using std::chrono::seconds;
  return {
      {"valkey", "?profile=valkey", "lock:", "", hex, plain},
      {"redisx", "?profile=redisx", "_lock:", "", "[0-9]+-[0-9]{13}-[0-9a-z]{15}", plain},
      {"forrst", "?profile=forrst", "forrst_lock:", "", uuid, described, Kind::mutex, seconds(1)},
      {"laravel", "?profile=laravel&prefix=app-database-app-cache-", "app-database-app-cache-", "",
       "[0-9A-Za-z]{16}", in_seconds, Kind::mutex, seconds(1)},
      {"redlock_js", "?profile=redlock-js", "", "", hex, by_script},
      {"redsync", "?profile=redsync", "", "", "[0-9A-Za-z+/]{22}==", plain},
      {"redis_py", "?profile=redis-py", "", "", hex, plain},
      {"redis_semaphore", "?profile=redis-semaphore", "mutex:", "", uuid, plain},
      {"n8n", "?profile=n8n", "n8n-lock-", "", uuid, counter, Kind::mutex, seconds(1)},
      {"redisson", "?profile=redisson", "", "", std::string(uuid) + ":1", redisson,
       Kind::reentrant},
      {"valkey_reentrant", "?profile=valkey&dialect=reentrant_hash", "lock:", "", hex, guide,
       Kind::reentrant},
      {"template", "?dialect=plain&template=app:*:lock", "app:", ":lock", hex, plain},
  };
}

std::vector<Peer> some_peers() {
  std::vector<Peer> chosen;
  for (const auto* name : {"valkey", "forrst", "redis_py", "n8n", "redisson", "valkey_reentrant"}) {
    chosen.push_back(peer_named(name));
  }
  return chosen;
}

Peer peer_named(const std::string& name) {
  for (auto& peer : every_peer()) {
    if (peer.name == name) return peer;
  }
  throw std::invalid_argument(name);
}

}  // namespace holdfast::test
