-- The guide's reentrant lock: a hash with the fields clientId and count.
local SPEC = '210000000001'
local key = KEYS[5]

local function theirs()
  local fields = call('HMGET', key, 'clientId', 'count')
  if not fields[1] then return nil end
  return {owner = fields[1], left = call('PTTL', key)}
end

local function put(owner, left_ms, _, known)
  if known then
    call('HINCRBY', key, 'count', count - synced_count)
  else
    call('DEL', key)
    call('HSET', key, 'clientId', owner, 'count', count)
  end
  call('PEXPIRE', key, left_ms)
end

local function clear() call('DEL', key) end
