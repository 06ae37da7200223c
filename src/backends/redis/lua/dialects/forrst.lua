-- The string of every SET NX client, and beside it three texts in which PHP's Forrst server keeps
-- who holds the lock, since when and until when. The string has the last word. But their status and
-- release look at the texts first, so these come and go in one step with it.
local SPEC = '114294967295'
local key = KEYS[5]
-- The locks of an ordinary Laravel program have no texts.
local is_described = #KEYS > (AUDIT and 6 or 5)
local owner_key, acquired_key, expires_key = KEYS[6], KEYS[7], KEYS[8]
-- As long the texts outlive the lock.
local AFTERWARDS_MS = 10000

-- As PHP writes a text.
local function serialized(text) return 's:' .. #text .. ':"' .. text .. '";' end

-- Laravel leaves a number as it is. What is no text says nothing.
local function read_text(from)
  local value = redis.pcall('GET', from)
  if type(value) ~= 'string' then return nil end
  local bytes, text = string.match(value, '^s:(%d+):"(.*)";$')
  return text and tonumber(bytes) == #text and text or value
end

local function left_of(held) return held.left < 0 and FOR_EVER_US / 1000 or math.ceil(held.left) end

-- Texts of another owner are left over, or written by one who has lost the lock and not noticed.
local function look_at_texts(held)
  held.has_texts = read_text(owner_key) == held.owner
  local since = held.has_texts and time_of(read_text(acquired_key)) or nil
  held.since = since and since <= now and since or nil
  local apart = call('PTTL', expires_key) - AFTERWARDS_MS - left_of(held)
  held.is_stale = not since or math.abs(apart) > UNIT_MS + 4
end

local function theirs()
  local token = call('GET', key)
  if not token then
    has_remains = is_described and call('EXISTS', owner_key, acquired_key, expires_key) > 0
    return nil
  end
  local held = {owner = token, depth = 1, left = call('PTTL', key)}
  if is_described then look_at_texts(held) end
  return held
end

local function write_end(left_ms)
  call('SET', expires_key, serialized(iso(now + left_ms * 1000) .. '+00:00'), 'PX',
    left_ms + AFTERWARDS_MS)
end

local function describe(held)
  local left_ms = held.left_ms or left_of(foreign)
  local keep_ms = left_ms + AFTERWARDS_MS
  call('SET', owner_key, serialized(held.known and foreign.owner or held.owner), 'PX', keep_ms)
  call('SET', acquired_key, serialized(iso(held.hold.since) .. '+00:00'), 'PX', keep_ms)
  write_end(left_ms)
end

-- A stranger's texts stay as it wrote them. One that wrote none would not delete ours either.
local function prolong(left_ms)
  call('PEXPIRE', owner_key, left_ms + AFTERWARDS_MS)
  call('PEXPIRE', acquired_key, left_ms + AFTERWARDS_MS)
  write_end(left_ms)
end

local function put(held)
  if not held.known then
    call('SET', key, held.owner, 'PX', held.left_ms)
  elseif held.left_ms then
    call('PEXPIRE', key, held.left_ms)
  end
  if not is_described then return end
  if held.hold.fence > 0 then
    describe(held)
  elseif held.left_ms and foreign.has_texts then
    prolong(held.left_ms)
  end
end

-- Whoever comes next writes its texts after it has the lock: what is there now is of no other lock.
local function clear()
  call('DEL', key)
  if is_described then call('DEL', owner_key, acquired_key, expires_key) end
end
