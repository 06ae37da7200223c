-- One command. The same as src/model/step.cpp, which is the definition.

local GRANTED, BUSY, QUEUED, RELEASED, NOT_HELD, NOT_OWNER, FORCED, REFUSED = 1, 2, 3, 4, 5, 6, 7, 8
local MAX_HOLDERS_SHOWN = 4

local function granted(hold, left)
  return {now, GRANTED, digits(hold.fence), left, now - hold.since}
end
local function not_yours() return {now, count == 0 and NOT_HELD or NOT_OWNER} end
local function refused(code, text) return {now, REFUSED, code, text} end

-- Until the lease in the way ends by itself: the last one for who needs all permits, else the first.
local function until_room(permits)
  if count == 0 then return 0 end
  local member = permits == ALL and call('ZRANGE', order, -1, -1)[1]
    or holders(0, '+inf', 'LIMIT', 0, 1)[1]
  return tonumber(call('ZSCORE', order, member)) - now
end

local function busy(wanted)
  local reply = {now, BUSY, until_room(wanted.permits), count}
  for _, member in ipairs(holders(0, '+inf', 'LIMIT', 0, MAX_HOLDERS_SHOWN)) do
    reply[#reply + 1] = tonumber(call('ZSCORE', order, member)) - now
    reply[#reply + 1] = call('HGET', records, member)
  end
  return reply
end

local function agree(to)
  local family = {['3'] = '1'}
  local mine, theirs = kind_of(spec), kind_of(to)
  local bound_order, wanted_order = sub(spec, 2, 2), sub(to, 2, 2)
  if bound_order == '0' then bound_order = '1' end
  return (family[mine] or mine) == (family[theirs] or theirs) and sub(spec, 3) == sub(to, 3)
    and (wanted_order == '0' or wanted_order == bound_order)
end

local function is_request_in_use(wanted)
  local is_its_own = wanted.converts == NO_REQUEST or wanted.converts == sub(wanted.id, 1, 16)
  if not is_its_own and find_hold(wanted.id) then return true end
  local waiter = find_waiter(wanted.id)
  return waiter and waiter.converts ~= wanted.converts
end

-- A reader that meets a waiting writer stands back, or writers would starve.
local function must_stand_back(permits)
  if permits == ALL then return false end
  for _, member in ipairs(waiter_ids()) do
    if permits_of(find_waiter(sub(member, 2)).body) == ALL then return true end
  end
  return false
end

local function may_enter(wanted)
  if not fits(wanted.owner, wanted.permits, nil) then return false end
  if waiting == 0 or is_reentrant() and count > 0 then return true end
  return is_barging() and not must_stand_back(wanted.permits)
end

local function enter(wanted)
  if count >= MAX_HOLDERS then
    return refused('limit_reached', 'max_holders: 16384 leases on one lock are the limit')
  end
  if waiting > 0 then remove_waiter(wanted.id) end
  local hold = new_hold(wanted.body, false)
  add_hold(wanted.id, hold, now + wanted.ttl)
  note('granted', wanted.id, hold)
  return granted(hold, wanted.ttl)
end

local function place_for(wanted)
  if wanted.converts ~= NO_REQUEST then return 0 end
  local minted = tonumber(call('GET', counter) or 0)
  local returns = wanted.place ~= 0 and wanted.place <= minted and not is_place_taken(wanted.place)
  return returns and wanted.place or mint()
end

local function queued(wanted)
  local place = tonumber(call('ZSCORE', order, 'w' .. wanted.id)) - WAITERS
  local ahead = math.min(call('ZRANK', order, 'w' .. wanted.id), 256)
  return {now, QUEUED, digits(place), ahead, until_room(wanted.permits), is_foreign() and 1 or 0}
end

local function join_queue(wanted)
  if not find_waiter(wanted.id) then
    if waiting >= MAX_WAITERS then
      return refused('limit_reached', 'max_waiters: 16384 waiters on one lock are the limit')
    end
    add_waiter(wanted.id, place_for(wanted), wanted)
  end
  if queue_expires < now + QUEUE_TTL_US - QUEUE_GRAIN_US then
    queue_expires = now + QUEUE_TTL_US
  end
  hand_over(wanted)
  if not find_waiter(wanted.id) then
    local held_as = wanted.converts == NO_REQUEST and wanted.id or wanted.converted
    return granted(find_hold(held_as), expiry_of(held_as) - now)
  end
  -- Those who stood before it may have gone, or have made it the owner that re-enters.
  if wanted.converts == NO_REQUEST and may_enter(wanted) then return enter(wanted) end
  return queued(wanted)
end

-- A lease is converted by one request at a time, so that another one that waits is left over.
local function drop_upgrader(wanted)
  local id, place, waiter = head()
  if not id or place ~= 0 or sub(id, 1, 16) == sub(wanted.id, 1, 16) then return end
  if waiter.converts .. sub(id, 17) == wanted.converted then remove_waiter(id) end
end

local function upgrade_or_wait(wanted)
  drop_upgrader(wanted)
  local id, place = head()
  -- Two upgraders would each wait for the other's shared lease to end.
  if id and place == 0 and id ~= wanted.id then return busy(wanted) end
  local alone = fits(wanted.owner, wanted.permits, wanted.converted)
  if not alone and not wanted.waits then return busy(wanted) end
  return join_queue(wanted)
end

local function convert(wanted)
  local hold = find_hold(wanted.converted)
  if not hold then return not_yours() end
  if wanted.permits ~= ALL then drop_upgrader(wanted) end
  local has = permits_of(hold.body)
  if has ~= wanted.permits and wanted.known ~= 0 and wanted.known < hold.fence then
    return refused('busy', 'the lease was converted meanwhile')
  end
  hold.claimed = false
  if has == wanted.permits then
    -- A caller that knows of this upgrade has asked to end it, and that may still be on its way:
    -- the new fence makes it a late copy. A caller that knows a newer fence than the store had it
    -- from a store that has lost data since, and must not be told an older one.
    if has == ALL and wanted.known >= hold.fence then
      hold.fence = mint()
      extend(wanted.converted, wanted.ttl)
    end
    write_hold(wanted.converted, hold)
    return granted(hold, expiry_of(wanted.converted) - now)
  end
  if wanted.permits == ALL then
    write_hold(wanted.converted, hold)
    return upgrade_or_wait(wanted)
  end
  used = used - has + wanted.permits
  hold.body = with_permits(hold.body, wanted.permits)
  write_hold(wanted.converted, hold)
  note('downgraded', wanted.converted, hold)
  return granted(hold, expiry_of(wanted.converted) - now)
end

-- A repeated request is a retry, not a second hold.
local function repeated(wanted, hold)
  if hold.claimed then
    extend(wanted.id, wanted.ttl)
    hold.claimed = false
    write_hold(wanted.id, hold)
  end
  return granted(hold, expiry_of(wanted.id) - now)
end

-- Whoever was told to come has come, even if somebody else was quicker.
local function take_offer(wanted)
  if offered_until == 0 then return end
  local place = call('ZSCORE', order, 'w' .. wanted.id)
  if place and tonumber(place) - WAITERS == offered_to then offered_until = 0 end
end

local function acquire(wanted)
  take_offer(wanted)
  local converts = wanted.converts ~= NO_REQUEST
  if is_idle() then
    bind(wanted.spec)
    if not converts then return enter(wanted) end
  elseif not agree(wanted.spec) then
    return refused('spec_mismatch',
      'the name is in use as another kind of lock, with another capacity or order')
  end
  local mine = find_hold(wanted.id)
  if mine and not converts then return repeated(wanted, mine) end
  if is_request_in_use(wanted) then
    return refused('bad_input', 'request: this one already holds or waits for something else')
  end
  if converts then return convert(wanted) end
  if may_enter(wanted) then return enter(wanted) end
  if wanted.waits then return join_queue(wanted) end
  -- A try that meets a free lock with a queue hands over before it answers.
  hand_over(wanted)
  local served = find_hold(wanted.id)
  if served then return granted(served, expiry_of(wanted.id) - now) end
  if may_enter(wanted) then return enter(wanted) end
  return busy(wanted)
end

-- The ids of this owner's holds; all of them if no request is named.
local function matching(id)
  if sub(id, 1, 16) ~= NO_REQUEST then
    return call('HEXISTS', records, 'h' .. id) == 1 and {id} or {}
  end
  local found = {}
  for _, member in ipairs(holders(0, '+inf')) do
    if sub(member, 18) == sub(id, 17) then found[#found + 1] = sub(member, 2) end
  end
  return found
end

-- Re-entries share their fence, so that all of them get it; but a stranger's, which has none.
-- `is_taken`: another grant may have it, so that this lease needs one that is larger.
local function adopt_fence(id, fence, is_taken)
  local mine = find_hold(id)
  if not mine or is_taken and mine.fence >= fence then return end
  if is_taken then fence = mint() end
  for _, member in ipairs(is_reentrant() and holders(0, '+inf') or {'h' .. id}) do
    local hold = find_hold(sub(member, 2))
    if hold.fence > 0 then
      hold.fence = fence
      write_hold(sub(member, 2), hold)
    end
  end
end

local function renew(id, ttl, fence, is_taken)
  if fence then adopt_fence(id, fence, is_taken) end
  local newest, left = nil, 0
  for _, each in ipairs(matching(id)) do
    local hold = find_hold(each)
    local remaining = extend(each, ttl)
    if hold.claimed then
      hold.claimed = false
      write_hold(each, hold)
    end
    local newer = not newest or hold.fence > newest.fence
      or hold.fence == newest.fence and (remaining > left
        or remaining == left and hold.since < newest.since)
    if newer then newest, left = hold, remaining end
  end
  return newest and granted(newest, left) or not_yours()
end

-- Strangers have no fence: they are meant where no fence was seen, or where any is.
local function is_up_to(hold, up_to)
  return (hold.fence > 0 or up_to == 0 or up_to > 9e15) and hold.fence <= up_to
end

-- Without a request it means what the owner holds up to a fence, and leaves the queue alone, since
-- every waiter has a request. Where only newer leases are left, the one that was meant is over.
local function release(id, only_unconfirmed, up_to)
  local held, waited, newer = false, false, false
  for _, each in ipairs(matching(id)) do
    local hold = find_hold(each)
    if up_to and not is_up_to(hold, up_to) then
      newer = true
    elseif hold.claimed or not only_unconfirmed then
      remove_hold(each, hold)
      note('released', each, hold)
      held = true
    end
  end
  if find_waiter(id) then
    remove_waiter(id)
    waited = true
  end
  if held or waited then return {now, RELEASED, held and 1 or 0} end
  if newer then return {now, NOT_HELD} end
  return not_yours()
end

-- The first word of the holder's metadata.
local function source_of(hold)
  return string.match(sub(hold.body, 1, -50), '^([^%z]*)%z')
end

local function force_release(up_to, source)
  local ousted = 0
  for _, member in ipairs(holders(0, '+inf')) do
    local hold = find_hold(sub(member, 2))
    if is_up_to(hold, up_to) and (not source or source_of(hold) == source) then
      remove_hold(sub(member, 2), hold)
      note('forced', sub(member, 2), hold)
      ousted = ousted + 1
    end
  end
  if ousted == 0 then return not_yours() end
  -- Minted although nobody gets it: whatever the ousted holders still do carries an older fence.
  return {now, FORCED, digits(mint()), ousted}
end

local function step(apply, ...)
  if read then read() end
  if not load() then
    return redis.error_reply('HFFORMAT this lock was written by a newer version of Holdfast')
  end
  if sync then sync() end
  expire()
  local outcome = apply(...)
  -- Whatever the command was: a lock that is free for the head of its queue is handed over.
  hand_over(nil)
  save()
  if mirror then mirror() end
  send_messages()
  return outcome
end
