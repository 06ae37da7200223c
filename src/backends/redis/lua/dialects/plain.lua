-- A string whose value is the holder's token and whose ttl is the lease, as every SET NX client
-- writes it.
local SPEC = '114294967295'
local key = KEYS[5]

local function theirs()
  local token = call('GET', key)
  return token and {owner = token, left = call('PTTL', key)}
end

local function put(owner, left_ms, _, known)
  if known then
    call('PEXPIRE', key, left_ms)
  else
    call('SET', key, owner, 'PX', left_ms)
  end
end

local function clear() call('DEL', key) end
