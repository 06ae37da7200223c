-- The state of one lock, and the only functions that write it. docs/stores/redis.md has the bytes.
local ALL = 4294967295
local MAX_HOLDERS, MAX_WAITERS = 16384, 16384
local QUEUE_TTL_US, QUEUE_GRAIN_US = 10000000, 1000000
-- Waiters and holders share a sorted set: waiters below zero by place, holders above by expiry.
local WAITERS = -9000000000000000
local NO_REQUEST = '0000000000000000'

local function mint()
  local fence = call('INCR', counter)
  if fence < now then fence = call('INCRBY', counter, now + 10000 - fence) end
  return fence
end

-- A body ends in spec (kind, order, capacity), permits, process and ttl.
local function kind_of(spec) return sub(spec, 1, 1) end
local function permits_of(body) return tonumber(sub(body, -37, -28)) end
local function process_of(body) return sub(body, -27, -12) end
local function ttl_of(body) return tonumber(sub(body, -11)) end
local function with_permits(body, permits)
  return sub(body, 1, -38) .. format('%010.0f', permits) .. sub(body, -27)
end

-- Bound while somebody holds or waits.
local spec, used, queue_expires = nil, 0, 0
local count, waiting = 0, 0
-- In a barging lock: who was told to try, by place, and until when. 0: nobody.
local offered_to, offered_until = 0, 0

local function is_idle() return count == 0 and waiting == 0 end
local function is_barging() return sub(spec, 2, 2) == '2' end
local function is_reentrant() return kind_of(spec) == '2' end

-- The lock's own key is left to `save`: until then, whatever fails has taken nothing away.
local function bind(to)
  call('DEL', records, order)
  spec, used, queue_expires, count, waiting = to, 0, 0, 0, 0
  offered_to, offered_until = 0, 0
end

-- Holds: claimed, fence, since, body.
local function hold_from(record)
  return record and {
    claimed = sub(record, 1, 1) == '1',
    fence = tonumber(sub(record, 2, 17)),
    since = tonumber(sub(record, 18, 33)),
    body = sub(record, 34),
  }
end

local function find_hold(id) return hold_from(call('HGET', records, 'h' .. id)) end

local function expiry_of(id) return tonumber(call('ZSCORE', order, 'h' .. id)) end

local function write_hold(id, hold)
  call('HSET', records, 'h' .. id, (hold.claimed and '1' or '0') .. digits(hold.fence)
    .. digits(hold.since) .. hold.body)
end

local function add_hold(id, hold, expires)
  write_hold(id, hold)
  call('ZADD', order, expires, 'h' .. id)
  count, used = count + 1, used + permits_of(hold.body)
end

local function remove_hold(id, hold)
  call('HDEL', records, 'h' .. id)
  call('ZREM', order, 'h' .. id)
  count, used = count - 1, used - permits_of(hold.body)
end

-- A lease never becomes shorter. Answers what is left.
local function extend(id, ttl)
  local expires = math.max(expiry_of(id), now + ttl)
  call('ZADD', order, expires, 'h' .. id)
  return expires - now
end

-- The members of holders whose lease ends between the two, the soonest first.
local function holders(from, to, ...)
  return call('ZRANGEBYSCORE', order, from, to, ...)
end

local function first_owner() return sub(holders(0, '+inf', 'LIMIT', 0, 1)[1], 18) end

-- Waiters: since, claim, converts, body.
local function find_waiter(id)
  local record = waiting > 0 and call('HGET', records, 'w' .. id)
  return record and {
    claim = tonumber(sub(record, 17, 36)),
    converts = sub(record, 37, 52),
    body = sub(record, 53),
  }
end

local function add_waiter(id, place, waiter)
  call('HSET', records, 'w' .. id,
    digits(now) .. format('%020.0f', waiter.claim) .. waiter.converts .. waiter.body)
  call('ZADD', order, place + WAITERS, 'w' .. id)
  waiting = waiting + 1
end

local function remove_waiter(id)
  call('HDEL', records, 'w' .. id)
  waiting = waiting - call('ZREM', order, 'w' .. id)
end

-- Id, place and record of the next in line.
local function head()
  if waiting == 0 then return nil end
  local first = call('ZRANGE', order, 0, 0, 'WITHSCORES')
  local id = sub(first[1], 2)
  return id, tonumber(first[2]) - WAITERS, find_waiter(id)
end

-- In place order.
local function waiter_ids()
  return waiting > 0 and call('ZRANGE', order, 0, waiting - 1) or {}
end

-- One holder and nobody else is a string; it is taken apart when a second one comes.
local function unfold(value)
  local nul = string.find(value, '\0', 18, true)
  local since
  if sub(value, -1) == '+' then
    since, value = tonumber(sub(value, -17, -2)), sub(value, 1, -18)
  end
  -- A key outlives the millisecond it ends in, and so does its lease. The clock is read after what is
  -- left: a pause in between must not make the lease shorter.
  local left = call('PTTL', lock)
  tick()
  local expires = (math.ceil(now / 1000) + left) * 1000
  local body = sub(value, nul + 1, -17)
  since = since or expires - ttl_of(body)
  local hold = {claimed = false, fence = tonumber(sub(value, -16)), since = since, body = body}
  bind(sub(body, -49, -38))
  add_hold(sub(value, 2, nul - 1), hold, expires)
end

local function load()
  local value = call('GET', lock)
  if not value then
    -- Whatever is left of it beside its key belongs to nobody.
    call('DEL', records, order)
    return true
  end
  local form = sub(value, 1, 1)
  if form == '1' then
    unfold(value)
  elseif form == '2' then
    spec, used, queue_expires = sub(value, 2, 13), tonumber(sub(value, 14, 29)),
      tonumber(sub(value, 30, 45))
    offered_to, offered_until = tonumber(sub(value, 46, 61)) or 0, tonumber(sub(value, 62, 77)) or 0
    count = call('ZCOUNT', order, 0, '+inf')
    waiting = call('ZCARD', order) - count
    -- An eviction or an operator may have taken one key of three: then nothing of it counts.
    if call('HLEN', records) ~= count + waiting then bind(spec) end
    -- A server that is out of memory allows every write after the first: here is one that needs no
    -- memory and changes nothing, so that a lease can still be renewed and handed over.
    call('HDEL', records, '')
  else
    return false
  end
  return true
end

local function is_place_taken(place)
  return call('ZCOUNT', order, place + WAITERS, place + WAITERS) > 0
end

-- Until when the state is kept for the sake of its holders. A stranger's hold, which is the one
-- without a request, is read from its own key in every step: what is known of it is a note that must
-- not stay for as long as a key without a ttl might have, after that key is gone.
local function end_of_holds()
  local ends = 0
  for last = -1, -math.min(count, 2), -1 do
    local found = call('ZRANGE', order, last, last, 'WITHSCORES')
    local expires = tonumber(found[2])
    if sub(found[1], 2, 17) ~= NO_REQUEST then return math.max(ends, expires) end
    ends = math.min(expires, now + QUEUE_TTL_US)
  end
  return ends
end

-- Nothing is left behind, at the latest when the last lease or the queue has ended.
local function save()
  if is_idle() then
    call('DEL', lock, records, order)
    return
  end
  local ends = end_of_holds()
  if waiting > 0 then ends = math.max(ends, queue_expires) end
  local left_ms = math.max(1, math.ceil((ends - now) / 1000))
  -- With an audit trail it stays as long as that, so that whoever comes next can tell of the end.
  if AUDIT then left_ms = left_ms + AUDIT_MS end
  -- Their key may outlive the lease by a unit: as long it is known whose it was.
  if UNIT_MS > 1 then left_ms = left_ms + UNIT_MS end
  local offer = ''
  if offered_until > 0 and is_place_taken(offered_to) then
    offer = digits(offered_to) .. digits(offered_until)
  end
  call('SET', lock, '2' .. spec .. digits(used) .. digits(queue_expires) .. offer, 'PX', left_ms)
  call('PEXPIRE', records, left_ms)
  call('PEXPIRE', order, left_ms)
end
