-- A run under an idempotency key, in the hash of NestJS RedisX with one more field. For records of
-- ours the same as src/model/idempotency.cpp, which is the definition. docs/stores/redis.md has the
-- fields.
local key, counter = KEYS[1], KEYS[2]
local verb, owner, fingerprint = ARGV[1], ARGV[2], ARGV[3]
local guard_ms, keep_ms, takes_over = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6] == '1'
local call, format = redis.call, string.format
local NOTHING, ABANDONED, IN_PROGRESS, COMPLETED, FAILED, MISMATCH = 1, 2, 3, 4, 5, 6
local FOUND = {processing = IN_PROGRESS, completed = COMPLETED, failed = FAILED}

local clock = call('TIME')
local now = clock[1] * 1000000 + clock[2]
local function digits(number) return format('%.0f', number) end
local now_ms = digits(math.floor(now / 1000))

local status, started, ended, known, note =
  unpack(call('HMGET', key, 'status', 'startedAt', 'completedAt', 'fingerprint', 'holdfast'))
if not FOUND[status] and (status or call('EXISTS', key) == 1) then
  return redis.error_reply('WRONGTYPE this key is no record of a run')
end

-- What we know besides says for which fields it was written. Where they are others now, RedisX has
-- written since, and the record is its own: it has no owner, and no fence.
local run
if status then
  local as_status, as_started, as_ended, took_over, fence, guard, guarded, expires, whose =
    string.match(note or '', '^(%S+) (%S+) (%S+) ([01]) (%d+) (%d+) (%d+) (%d+) (.+)$')
  if as_status == status and as_started == (started or '-') and as_ended == (ended or '-') then
    -- The key goes a little late.
    run = tonumber(expires) > now and {
      took_over = took_over,
      fence = tonumber(fence),
      guard = tonumber(guard),
      guarded_until = tonumber(guarded),
      expires = tonumber(expires),
      owner = whose,
    }
  else
    run = {is_theirs = true, fence = 0}
  end
end
local stale = status and not run
if not run then status, started, ended, known = nil, nil, nil, nil end
known = known or ''

-- Until theirs counts as abandoned. What startedAt says comes from a clock that may be wrong, and
-- what is left of the key, which they make twice as long as their guard, from ours: both must agree.
local function until_theirs_is_stale()
  local began_ms = string.match(started or '', '^%d+$') and #started < 15 and tonumber(started) or 0
  local left = (began_ms + guard_ms) * 1000 + 1 - now
  local ttl_ms = call('PTTL', key)
  if ttl_ms < 0 then return left end
  left = math.max(left, (ttl_ms - guard_ms) * 1000)
  -- Without its key it is gone, whatever is missing.
  return left > 0 and math.min(left, math.max(ttl_ms, 1) * 1000) or left
end

local found, remaining = NOTHING, 0
if run then
  found = FOUND[status]
  local guard_left = 0
  if found == IN_PROGRESS then
    guard_left = run.is_theirs and until_theirs_is_stale() or run.guarded_until - now
    if guard_left <= 0 then found = ABANDONED end
  end
  if found == IN_PROGRESS then
    remaining = run.is_theirs and math.max(guard_left, 1000) or guard_left
  else
    remaining = run.is_theirs and math.max(call('PTTL', key), 0) * 1000 or run.expires - now
  end
end

local function is_running_for_caller()
  return run and not run.is_theirs and status == 'processing' and run.owner == owner
end
local function has_ended_for_caller(as)
  return run and not run.is_theirs and status == as and run.owner == owner
end

local function in_short() return {0, found, run and run.fence or 0, remaining} end

local function whole()
  local reply = in_short()
  if found == COMPLETED then
    local answer = call('HMGET', key, 'statusCode', 'headers', 'response')
    reply[5] = tonumber(string.match(answer[1] or '', '^[1-5]%d%d$') or 200)
    reply[6], reply[7] = answer[2] or '', answer[3] or ''
  elseif found == FAILED then
    reply[5] = call('HGET', key, 'error') or ''
  end
  return reply
end

-- Whoever writes to a record that is there needs little more memory or none, and others wait for it:
-- a server that is full allows every write after the first, and this one changes nothing.
local function make_room() call('HDEL', key, '') end

-- The key goes a millisecond late, never early.
local function keep_key() call('PEXPIRE', key, math.ceil((run.expires - now) / 1000) + 1) end

-- What was done before is done again as far as a write goes: where replicas have to confirm it, they
-- speak only of what this connection wrote.
local function again(as, left)
  keep_key()
  return {1, as, run.fence, left}
end

-- The record with what has become of it.
local function save(...)
  note = format('%s %s %s %s %s %s %s %s ', status, started or '-', ended or '-', run.took_over,
    digits(run.fence), digits(run.guard), digits(run.guarded_until), digits(run.expires))
  call('HSET', key, 'status', status, 'holdfast', note .. run.owner, ...)
  keep_key()
end

local function guard_until(time)
  run.expires = run.expires + time - run.guarded_until
  run.guarded_until = time
end

-- RedisX goes by startedAt: a sign of life to it too.
local function renew_until(time)
  guard_until(time)
  started = now_ms
  make_room()
  save('startedAt', started)
end

local function mint()
  local fence = call('INCR', counter)
  if fence < now then fence = call('INCRBY', counter, now + 10000 - fence) end
  return fence
end

local verbs = {}

function verbs.begin()
  if fingerprint ~= '' and known ~= '' and fingerprint ~= known then return {0, MISMATCH, 0, 0} end
  if is_running_for_caller() then
    if found == ABANDONED then
      run.guard = guard_ms
      renew_until(now + guard_ms * 1000)
    end
    return again(run.took_over == '1' and ABANDONED or NOTHING, run.guarded_until - now)
  end
  if found ~= NOTHING and not (found == ABANDONED and takes_over) then return whole() end
  -- The first write: where it fails, nothing has changed.
  local fence = mint()
  run = {
    took_over = found == ABANDONED and '1' or '0',
    fence = fence,
    guard = guard_ms,
    guarded_until = now + guard_ms * 1000,
    expires = now + (guard_ms + keep_ms) * 1000,
    owner = owner,
  }
  call('DEL', key)
  status, started, ended = 'processing', now_ms, nil
  save('fingerprint', fingerprint ~= '' and fingerprint or known, 'startedAt', started)
  return {1, found, fence, guard_ms * 1000}
end

function verbs.renew()
  -- One that was on its way when its run was abandoned must not keep others waiting.
  if not is_running_for_caller() or run.guard == 0 then return in_short() end
  run.guard = guard_ms
  renew_until(math.max(run.guarded_until, now + guard_ms * 1000))
  return {1, IN_PROGRESS, run.fence, run.guarded_until - now}
end

function verbs.complete()
  if has_ended_for_caller('completed') then return again(COMPLETED, remaining) end
  if run and not is_running_for_caller() then return in_short() end
  local before = run and IN_PROGRESS or NOTHING
  if not run then
    run = {took_over = '0', fence = 0, guard = 0, guarded_until = 0, owner = owner}
    if stale then call('DEL', key) end
  else
    make_room()
  end
  status, ended = 'completed', now_ms
  run.expires = now + keep_ms * 1000
  save('fingerprint', fingerprint ~= '' and fingerprint or known, 'completedAt', ended,
    'statusCode', ARGV[7], 'headers', ARGV[8], 'response', ARGV[9])
  return {1, before, run.fence, keep_ms * 1000}
end

function verbs.abandon()
  if not is_running_for_caller() then return in_short() end
  guard_until(math.min(run.guarded_until, now))
  run.guard = 0
  make_room()
  save()
  return {1, IN_PROGRESS, run.fence, run.expires - now}
end

function verbs.fail()
  if has_ended_for_caller('failed') then return again(FAILED, remaining) end
  if not run then return {1, NOTHING, 0, 0} end
  if not is_running_for_caller() then return in_short() end
  if run.took_over == '1' then return verbs.abandon() end
  if keep_ms == 0 then
    call('DEL', key)
    return {1, IN_PROGRESS, run.fence, 0}
  end
  status, ended = 'failed', now_ms
  run.expires = now + keep_ms * 1000
  make_room()
  save('completedAt', ended, 'error', ARGV[7])
  return {1, IN_PROGRESS, run.fence, keep_ms * 1000}
end

verbs.look = whole

function verbs.forget()
  local reply = in_short()
  if run then
    reply[1] = 1
    call('DEL', key)
  end
  return reply
end

return verbs[verb]()
