-- The state is kept beside a key that other programs understand. Before a step it learns what they
-- did, after the step their key says what became of it. A dialect gives theirs, put and clear, and
-- the SPEC of what its key can say.
local FOR_EVER_US = 86400000000

-- A token of theirs may be anything; ours is text.
local function as_owner(token)
  if token == '' or #token > 256 or string.find(token, '[%z\1-\31\127-\255]') then
    return 'sha1:' .. redis.sha1hex(token)
  end
  return token
end

local function is_theirs(owner)
  return foreign and (owner == foreign.owner or owner == as_owner(foreign.owner))
end

local function is_foreign()
  if count == 0 then return false end
  return sub(holders(0, '+inf', 'LIMIT', 0, 1)[1], 2, 17) == NO_REQUEST
end

-- First of all, since this fails if the key is not what the dialect expects.
local function read() foreign = theirs() end

-- The ttl of their key is what everybody else goes by: whoever changed it has changed the lease.
local function follow_their_ttl(expires)
  local slack = UNIT_MS * 1000 + 2000
  local members = holders(0, '+inf')
  local last = tonumber(call('ZSCORE', order, members[#members]))
  if expires > last + slack then call('ZADD', order, expires, members[#members]) end
  -- A ttl is told in whole milliseconds.
  if expires >= last - 2000 then return end
  for _, member in ipairs(members) do call('ZADD', order, 'LT', expires, member) end
end

local function sync()
  local expires = foreign and now + (foreign.left < 0 and FOR_EVER_US or foreign.left * 1000)
  if foreign and count > 0 and is_theirs(first_owner()) then
    follow_their_ttl(expires)
  else
    -- What time has ended is left to `expire`, which knows what a lapsed claim means.
    for _, member in ipairs(holders('(' .. digits(now), '+inf')) do
      local hold = find_hold(sub(member, 2))
      remove_hold(sub(member, 2), hold)
      note('lost', sub(member, 2), hold)
    end
    if foreign then
      if is_idle() then bind(wanted_spec or SPEC) end
      local body = spec .. format('%010.0f', tonumber(sub(spec, 3))) .. NO_REQUEST .. '00000000000'
      add_hold(NO_REQUEST .. as_owner(foreign.owner),
        {claimed = false, fence = 0, since = now, body = body}, expires)
    end
  end
  if count > 0 then synced_expiry = tonumber(call('ZRANGE', order, -1, -1, 'WITHSCORES')[2]) end
  synced_count = count
end

local function mirror()
  if count == 0 then
    if foreign then clear() end
    return
  end
  local last = call('ZRANGE', order, -1, -1, 'WITHSCORES')
  local id, expires = sub(last[1], 2), tonumber(last[2])
  local known = is_theirs(sub(id, 17)) and foreign or nil
  if known and expires == synced_expiry and count == synced_count then return end
  local left_ms = math.ceil((expires - now) / 1000 / UNIT_MS) * UNIT_MS
  put(sub(id, 17), left_ms, find_hold(id), known)
end
