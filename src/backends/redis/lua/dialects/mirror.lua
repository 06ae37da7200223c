-- The state is kept beside a key that other programs understand. Before a step it learns what they
-- did, after the step their key says what became of it. A dialect gives theirs, put and clear, and
-- the SPEC of what its key can say.
-- How far the ttl of our key may be from our lease: it is told in whole units and milliseconds.
local ROUNDING_US = UNIT_MS * 1000 + 4000

-- A token of theirs may be anything; ours is text.
local function as_owner(token)
  return token ~= '' and is_text(token) and token or 'sha1:' .. redis.sha1hex(token)
end

local function is_theirs(owner)
  return foreign and (owner == foreign.owner or owner == as_owner(foreign.owner))
end

-- All that strangers hold is one hold without a request; it has no fence.
local function is_strangers(member) return sub(member, 2, 17) == NO_REQUEST end

local function is_foreign()
  return count > 0 and call('HEXISTS', records, 'h' .. NO_REQUEST .. first_owner()) == 1
end

-- First of all, since this fails if the key is not what the dialect expects.
-- The clock is read after what is left of the key: a pause in between must not make it shorter.
local function read()
  foreign = theirs()
  tick()
end

-- A key outlives the millisecond it ends in, and so does its lease.
local function end_of_key()
  if foreign.left < 0 then return now + FOR_EVER_US end
  return (math.floor(now / 1000) + foreign.left + 1) * 1000
end

local function add_stranger()
  local tail = spec .. format('%010.0f', tonumber(sub(spec, 3))) .. NO_REQUEST .. '00000000000'
  add_hold(NO_REQUEST .. as_owner(foreign.owner), {claimed = false, fence = 0,
    since = foreign.since or now, body = (foreign.words or '') .. tail}, end_of_key())
end

-- The ttl of their key is what everybody else goes by: whoever changed it has changed the lease.
local function follow_their_ttl(ours)
  local expires = end_of_key()
  local last = tonumber(call('ZSCORE', order, ours[#ours]))
  if strangers == 0 and expires > last + ROUNDING_US then
    call('ZADD', order, expires, ours[#ours])
  end
  if expires >= last - 2000 then return end
  for _, member in ipairs(ours) do call('ZADD', order, 'LT', expires, member) end
end

-- A lease of ours stands, whatever those who lost made of its key.
local function stand(ours)
  local left = tonumber(call('ZSCORE', order, ours[#ours])) - now
  local too_long = foreign.left * 1000 - left
  if left <= 0 or foreign.left >= 0 and too_long >= -1000 and too_long <= ROUNDING_US then return end
  settle(math.ceil(left / 1000 / UNIT_MS) * UNIT_MS)
end

-- The same owner may come again with something else to say of itself.
local function hear(stranger)
  call('ZADD', order, end_of_key(), stranger)
  local id = sub(stranger, 2)
  local hold = find_hold(id)
  local words = foreign.words or ''
  local is_same = sub(hold.body, 1, -50) == words
  local since = foreign.since or is_same and hold.since or now
  if is_same and since == hold.since then return end
  hold.body, hold.since = words .. sub(hold.body, -49), since
  write_hold(id, hold)
end

-- The key names the owner that the state knows. What it says beyond our own holds is strangers'.
local function follow()
  local ours, stranger = {}, nil
  for _, member in ipairs(holders(0, '+inf')) do
    if is_strangers(member) then stranger = member else ours[#ours + 1] = member end
  end
  strangers = math.max(foreign.depth - #ours, #ours == 0 and 1 or 0)
  if #ours > 0 then
    if foreign.is_anyones then stand(ours) else follow_their_ttl(ours) end
  end
  if strangers > 0 and stranger then
    hear(stranger)
  elseif strangers > 0 then
    add_stranger()
  elseif stranger then
    remove_hold(sub(stranger, 2), find_hold(sub(stranger, 2)))
  end
end

-- The key names somebody else, or is gone. What time has ended is left to `expire`, which knows
-- what a lapsed claim means.
local function lose_holds()
  for _, member in ipairs(holders('(' .. digits(now), '+inf')) do
    local hold = find_hold(sub(member, 2))
    remove_hold(sub(member, 2), hold)
    note('lost', sub(member, 2), hold)
  end
end

local function sync()
  local is_known = foreign and count > 0 and is_theirs(first_owner())
  if is_known and foreign.began_anew and not is_foreign() then
    foreign.owner, foreign.words, foreign.since, is_known = '', nil, nil, false
  end
  if foreign and foreign.leaving then
    -- Nobody but us takes away what is left of ours.
    if is_known and not is_foreign() then
      clear()
      foreign, is_known = nil, false
    else
      hurry()
    end
  end
  if is_known then
    follow()
  else
    lose_holds()
    if foreign then
      if is_idle() then bind(wanted_spec or SPEC) end
      strangers = foreign.depth
      add_stranger()
    end
  end
  if count > 0 then synced_expiry = tonumber(call('ZRANGE', order, -1, -1, 'WITHSCORES')[2]) end
  synced_count = count
end

local function mirror()
  if count == 0 then
    if foreign or has_remains then clear() end
    return
  end
  local last = call('ZRANGE', order, -1, -1, 'WITHSCORES')
  local id, expires = sub(last[1], 2), tonumber(last[2])
  local known = is_theirs(sub(id, 17)) and foreign or nil
  if known and not known.is_stale and expires == synced_expiry and count == synced_count then
    return
  end
  -- The ttl that strangers gave is left as it is.
  local left_ms = not (known and expires == synced_expiry)
    and math.ceil((expires - now) / 1000 / UNIT_MS) * UNIT_MS or nil
  put({owner = sub(id, 17), hold = find_hold(id), left_ms = left_ms, known = known,
    depth = is_foreign() and count - 1 + strangers or count})
end
