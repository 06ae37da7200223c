-- The guide's reentrant lock: a hash with the fields clientId and count.
local SPEC = '210000000001'
local key = KEYS[5]

local function theirs()
  local fields = call('HMGET', key, 'clientId', 'count')
  if not fields[1] then
    if call('EXISTS', key) == 1 then mismatch(key) end
    return nil
  end
  return {owner = fields[1], depth = tonumber(fields[2]) or 1, left = call('PTTL', key)}
end

local function put(held)
  if not held.known then
    call('DEL', key)
    call('HSET', key, 'clientId', held.owner)
  end
  call('HSET', key, 'count', held.depth)
  if held.left_ms then call('PEXPIRE', key, held.left_ms) end
end

local function clear() call('DEL', key) end
