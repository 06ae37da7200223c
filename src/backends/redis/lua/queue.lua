-- The moves that every command is made of: what time ends, who fits, and who is next. The same as
-- src/model/queue.cpp, which is the definition.

local function is_callers(caller, id, waiter)
  return caller and id == caller.id and waiter.converts == caller.converts
end

-- In one pass for all processes that are gone: there may be as many as waiters.
local function drop_waiters_of(gone, caller)
  if not next(gone) then return end
  for _, member in ipairs(waiter_ids()) do
    local id = sub(member, 2)
    local waiter = find_waiter(id)
    if gone[process_of(waiter.body)] and not is_callers(caller, id, waiter) then
      remove_waiter(id)
    end
  end
end

local function drop_upgrade_without_its_hold()
  local id, place, waiter = head()
  if not id or place ~= 0 then return end
  if not find_hold(waiter.converts .. sub(id, 17)) then remove_waiter(id) end
end

local function expire()
  if waiting > 0 and queue_expires <= now then
    for _, member in ipairs(waiter_ids()) do remove_waiter(sub(member, 2)) end
    offered_until = 0
  end
  local ended = holders(0, now)
  if #ended == 0 then return end
  local lapsed, gone = {}, {}
  for _, member in ipairs(ended) do
    local hold = find_hold(sub(member, 2))
    if hold.claimed then gone[process_of(hold.body)] = true end
    lapsed[#lapsed + 1] = {id = sub(member, 2), hold = hold}
  end
  drop_waiters_of(gone, nil)
  for _, entry in ipairs(lapsed) do
    remove_hold(entry.id, entry.hold)
    note('expired', entry.id, entry.hold)
  end
  drop_upgrade_without_its_hold()
end

-- `converts` is the id of the hold that is replaced, if any.
local function fits(owner, permits, converts)
  if count == 0 then return true end
  if is_reentrant() and first_owner() == owner then return true end
  local others = used
  local replaced = converts and find_hold(converts)
  if replaced then others = others - permits_of(replaced.body) end
  if permits == ALL then return others == 0 end
  return others + permits <= tonumber(sub(spec, 3))
end

-- A message says what has been done, so it is sent when everything is written. It must not fail:
-- a writer has no way back.
local messages = {}
local function send(message)
  local receivers = redis.pcall('PUBLISH', 'hf:' .. message.process, message.text)
  return type(receivers) == 'number' and receivers > 0
end

local function send_messages()
  for _, message in ipairs(messages) do send(message) end
end

local function message_to(id, body, text)
  return {process = process_of(body), text = text .. id .. '\0' .. lock}
end

-- Whether a process listens to this server, as it was first asked; nil for those that were not.
-- PUBLISH would tell too late, and counts subscriptions to patterns.
local listens = {}
local function is_reached(id, body)
  local process = process_of(body)
  if listens[process] == nil then
    local listeners = redis.pcall('PUBSUB', 'NUMSUB', 'hf:' .. process)
    -- This user may not ask: the waiter is told to ask again, which is true whatever becomes of it.
    if listeners.err then return send(message_to(id, body, 'h')) end
    listens[process] = listeners[2] > 0
  end
  return listens[process]
end

-- Once what it says is certain. A process that could not be asked about has its hint already.
local function tell(id, body, text)
  if listens[process_of(body)] then messages[#messages + 1] = message_to(id, body, text) end
end

-- A re-entry shares the fence of its owner's first lease. A stranger's hold, of which there is one
-- at most, has none.
local function fence_of_owner()
  for _, member in ipairs(holders(0, '+inf', 'LIMIT', 0, 2)) do
    local fence = find_hold(sub(member, 2)).fence
    if fence > 0 then return fence end
  end
  return nil
end

local function new_hold(body, claimed)
  local fence = is_reentrant() and count > 0 and fence_of_owner() or mint()
  return {claimed = claimed, fence = fence, since = now, body = body}
end

-- The head gets the lock: with a claim and a message, unless it asks itself. False if its process
-- cannot be reached; then nothing has changed.
local function serve(id, waiter, is_caller)
  if not is_caller and not is_reached(id, waiter.body) then return false end
  local lease = ttl_of(waiter.body)
  if not is_caller then lease = math.min(lease, waiter.claim) end
  local upgraded = waiter.converts ~= NO_REQUEST and waiter.converts .. sub(id, 17) or nil
  local hold
  if upgraded then
    hold = find_hold(upgraded)
    lease = math.max(lease, expiry_of(upgraded) - now)
    hold.fence = mint()
  else
    hold = new_hold(waiter.body, not is_caller)
  end
  remove_waiter(id)
  if upgraded then
    used = used - permits_of(hold.body) + permits_of(waiter.body)
    hold.body = with_permits(hold.body, permits_of(waiter.body))
    write_hold(upgraded, hold)
    extend(upgraded, lease)
    note('upgraded', upgraded, hold)
  else
    add_hold(id, hold, now + lease)
    note('granted', id, hold)
  end
  if not is_caller then
    tell(id, waiter.body, 'g' .. digits(hold.fence) .. digits(now) .. digits(lease))
  end
  return true
end

local told = nil

-- Tells the head of a barging lock to try, or gives the head the lock. False if its process cannot
-- be reached, or was told before and did not come in time.
local function serve_or_tell(id, place, waiter, is_caller)
  if is_caller or not is_barging() then return serve(id, waiter, is_caller) end
  if told == id then return true end
  local was_told = offered_until > 0 and offered_to == place
  if was_told and offered_until <= now or not is_reached(id, waiter.body) then return false end
  tell(id, waiter.body, 'h')
  told = id
  if not was_told then offered_to, offered_until = place, now + waiter.claim end
  return true
end

-- Serves the head of the queue as far as the lock has room. `caller` is the waiter whose own
-- command this is. In a barging lock the head is only told to try.
local function hand_over(caller)
  if waiting == 0 then return end
  drop_upgrade_without_its_hold()
  local gone = {}
  while waiting > 0 do
    local id, place, waiter = head()
    local process, is_caller = process_of(waiter.body), is_callers(caller, id, waiter)
    if gone[process] and not is_caller then
      remove_waiter(id)
    else
      local upgrades = waiter.converts ~= NO_REQUEST
      local replaced = upgrades and waiter.converts .. sub(id, 17) or nil
      if not fits(sub(id, 17), permits_of(waiter.body), replaced) then break end
      if count >= MAX_HOLDERS and not upgrades then break end
      if not serve_or_tell(id, place, waiter, is_caller) then
        gone[process] = true
      elseif told == id then
        break
      end
    end
  end
  drop_waiters_of(gone, caller)
end
