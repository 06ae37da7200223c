-- A counter that whoever raised it to 1 holds, and a text beside it that says who that is. Losers
-- raise it too, so its value says nothing; the text alone tells the owner.
local SPEC = '114294967295'
local key, meta = KEYS[5], KEYS[6]

-- They delete the counter and then its text: whoever wrote a text of its own in between would lose
-- it to the second command. So a text without a counter is given this long to go.
local LEAVING_MS = 500

local function owner_of(text)
  local read, found = pcall(cjson.decode, text)
  return read and type(found) == 'table' and type(found.lock_id) == 'string' and found.lock_id
    or text
end

local function theirs()
  local value = call('GET', key)
  local text = call('GET', meta)
  if not value and not text then return nil end
  -- Between their first two commands there is a counter without a text: held, by nobody we know.
  return {owner = text and owner_of(text) or '', depth = 1, value = tonumber(value),
    left = call('PTTL', value and key or meta), leaving = not value}
end

hurry = function()
  if foreign.left >= 0 and foreign.left <= LEAVING_MS then return end
  foreign.left = LEAVING_MS
  call('PEXPIRE', meta, LEAVING_MS)
end

-- "2026-11-16T03:45:12.345Z"
local function iso(us)
  local ms = math.floor(us / 1000)
  local days, rest = math.floor(ms / 86400000), ms % 86400000
  local z = days + 719468
  local era = math.floor(z / 146097)
  local doe = z - era * 146097
  local yoe = math.floor((doe - math.floor(doe / 1460) + math.floor(doe / 36524)
    - math.floor(doe / 146096)) / 365)
  local doy = doe - (365 * yoe + math.floor(yoe / 4) - math.floor(yoe / 100))
  local mp = math.floor((5 * doy + 2) / 153)
  local month = mp < 10 and mp + 3 or mp - 9
  local year = yoe + era * 400 + (month <= 2 and 1 or 0)
  return format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', year, month,
    doy - math.floor((153 * mp + 2) / 5) + 1, math.floor(rest / 3600000),
    math.floor(rest / 60000) % 60, math.floor(rest / 1000) % 60, rest % 1000)
end

-- The holder's metadata: source, note, value, host, program. Their words for it are in
-- docs/dialects.md.
local function describe(owner, hold)
  local words = {}
  for word in string.gmatch(sub(hold.body, 1, -50), '([^%z]*)%z') do words[#words + 1] = word end
  local function word(at)
    return cjson.encode(words[at] and words[at] ~= '' and words[at] or 'unknown')
  end
  local name = words[2] and words[2] ~= '' and 2 or 5
  return '{"lock_id":' .. cjson.encode(owner) .. ',"workflow_id":' .. word(3)
    .. ',"workflow_name":' .. word(name) .. ',"execution_id":' .. word(1)
    .. ',"locked_at":"' .. iso(hold.since) .. '"}'
end

local function put(held)
  if held.known then
    if not held.left_ms then return end
    call('PEXPIRE', key, held.left_ms)
    call('PEXPIRE', meta, held.left_ms)
  else
    -- Any counter keeps them out. Ours is the fence, so that a new winner's, which begins at 1,
    -- is not taken for ours before it has written its text.
    call('SET', key, digits(held.hold.fence), 'PX', held.left_ms)
    call('SET', meta, describe(held.owner, held.hold), 'PX', held.left_ms)
  end
end

local function clear() call('DEL', key, meta) end
