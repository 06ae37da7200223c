-- A hash of the owner and how often it has entered, and a channel for those who wait.
local SPEC = '210000000001'
local key = KEYS[5]

local function theirs()
  local fields = call('HGETALL', key)
  if #fields == 0 then return nil end
  return {owner = fields[1], depth = tonumber(fields[2]) or 1, left = call('PTTL', key)}
end

local function put(owner, left_ms, _, known)
  if known then
    call('HINCRBY', key, foreign.owner, count - synced_count)
  else
    call('DEL', key)
    call('HSET', key, owner, count)
  end
  call('PEXPIRE', key, left_ms)
end

local function clear()
  call('DEL', key)
  local channel = string.find(key, '{', 1, true) and key or '{' .. key .. '}'
  redis.pcall('PUBLISH', 'redisson_lock__channel:' .. channel, '0')
end
