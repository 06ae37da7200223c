-- A string whose value is the holder's token and whose ttl is the lease, as every SET NX client
-- writes it.
local SPEC = '114294967295'
local key = KEYS[5]

local function theirs()
  local token = call('GET', key)
  return token and {owner = token, depth = 1, left = call('PTTL', key)}
end

local function put(held)
  if held.known then
    if held.left_ms then call('PEXPIRE', key, held.left_ms) end
  else
    call('SET', key, held.owner, 'PX', held.left_ms)
  end
end

local function clear() call('DEL', key) end
