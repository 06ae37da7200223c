// SPDX-License-Identifier: Apache-2.0
//
// A clock for Redis that the test moves. The prelude stands before each script and hides `redis`
// behind a table that answers TIME from a key, and keeps the ttls of keys in a hash instead of
// giving them to the server.
#pragma once

#include <string_view>

namespace holdfast::test {

inline constexpr std::string_view virtual_time_prelude = R"lua(
local server = redis
local redis = {error_reply = server.error_reply, status_reply = server.status_reply,
  sha1hex = server.sha1hex}
do
  local now = tonumber(server.call('GET', 'twin:now'))
  local function forget(key) server.call('HDEL', 'twin:expiry', key) end
  local function forget_if_gone(key)
    if server.call('EXISTS', key) == 0 then forget(key) end
  end
  local function expire(key, ttl_ms)
    ttl_ms = tonumber(ttl_ms)
    assert(ttl_ms > 0 and ttl_ms == math.floor(ttl_ms), 'not a ttl')
    server.call('HSET', 'twin:expiry', key, string.format('%.0f', now / 1000 + ttl_ms))
  end
  local verbs = {
    TIME = function()
      return {string.format('%.0f', math.floor(now / 1000000)), string.format('%.0f', now % 1000000)}
    end,
    PSETEX = function(call, key, ttl_ms, value)
      local done = call('SET', key, value)
      expire(key, ttl_ms)
      return done
    end,
    SET = function(call, key, value, px, ttl_ms, more)
      assert(more == nil and (px == nil or px == 'PX'), 'not known to the twin')
      local done = call('SET', key, value)
      if px then expire(key, ttl_ms) else forget(key) end
      return done
    end,
    PEXPIRE = function(call, key, ttl_ms)
      local exists = call('EXISTS', key)
      if exists == 1 then expire(key, ttl_ms) end
      return exists
    end,
    PTTL = function(call, key)
      if call('EXISTS', key) == 0 then return -2 end
      local expiry = call('HGET', 'twin:expiry', key)
      return expiry and tonumber(expiry) - now / 1000 or -1
    end,
    DEL = function(call, ...)
      for _, key in ipairs({...}) do forget(key) end
      return call('DEL', ...)
    end,
    HDEL = function(call, key, ...)
      local removed = call('HDEL', key, ...)
      forget_if_gone(key)
      return removed
    end,
    ZREM = function(call, key, ...)
      local removed = call('ZREM', key, ...)
      forget_if_gone(key)
      return removed
    end,
  }
  local unknown = {EXPIRE = 1, EXPIREAT = 1, PEXPIREAT = 1, PERSIST = 1, SETEX = 1, TTL = 1,
    GETDEL = 1, GETEX = 1, UNLINK = 1, RENAME = 1, ZREMRANGEBYSCORE = 1, ZREMRANGEBYRANK = 1,
    ZPOPMIN = 1, ZPOPMAX = 1}
  local function instead(call)
    return function(verb, ...)
      assert(not unknown[verb], 'not known to the twin')
      local other = verbs[verb]
      if other then return other(call, ...) end
      return call(verb, ...)
    end
  end
  redis.call, redis.pcall = instead(server.call), instead(server.pcall)
end
)lua";

// Moves the clock to ARGV[1] (microseconds) and ends the keys whose time has come.
inline constexpr std::string_view move_clock_script = R"lua(
redis.call('SET', 'twin:now', ARGV[1])
local all = redis.call('HGETALL', 'twin:expiry')
for i = 1, #all, 2 do
  if tonumber(all[i + 1]) * 1000 <= tonumber(ARGV[1]) then
    redis.call('DEL', all[i])
    redis.call('HDEL', 'twin:expiry', all[i])
  end
end
return redis.call('DBSIZE')
)lua";

}  // namespace holdfast::test
