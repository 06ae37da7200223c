-- A hash of the owner and how often it has entered, and a channel for those who wait.
local SPEC = '210000000001'
local key = KEYS[5]

local function theirs()
  local fields = call('HLEN', key)
  if fields == 0 then return nil end
  local held = fields == 1 and call('HGETALL', key) or {}
  -- A lock of another sort, or no lock at all.
  if not tonumber(held[2]) then mismatch(key) end
  return {owner = held[1], depth = tonumber(held[2]), left = call('PTTL', key)}
end

local function put(held)
  if not held.known then call('DEL', key) end
  call('HSET', key, held.known and foreign.owner or held.owner, held.depth)
  if held.left_ms then call('PEXPIRE', key, held.left_ms) end
end

local function clear()
  call('DEL', key)
  local channel = string.find(key, '{', 1, true) and key or '{' .. key .. '}'
  redis.pcall('PUBLISH', 'redisson_lock__channel:' .. channel, '0')
end
