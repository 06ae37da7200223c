-- A counter that whoever raised it to 1 holds, and a text beside it that says who that is. Losers
-- raise it too, so its value says nothing; the text alone tells the owner.
local SPEC = '114294967295'
local key, meta = KEYS[5], KEYS[6]

-- They delete the counter and then its text: whoever wrote a text of its own in between would lose
-- it to the second command. So a text without a counter is given this long to go.
local LEAVING_MS = 500

-- A word of theirs as metadata: text that can be shown, or nothing.
local function shown(word)
  if type(word) == 'number' then word = format('%.0f', word) end
  return type(word) == 'string' and is_text(word) and word or ''
end

-- Who it is by the text, what that says of itself (as metadata, see describe), and since when.
local function read_text(text)
  local read, found = pcall(cjson.decode, text)
  if not read or type(found) ~= 'table' then return text end
  local words = shown(found.execution_id) .. '\0' .. shown(found.workflow_name) .. '\0'
    .. shown(found.workflow_id) .. '\0'
  -- Nobody can give a lock_id that is no text.
  local owner = type(found.lock_id) == 'string' and found.lock_id or text
  return owner, words, time_of(found.locked_at)
end

local function theirs()
  local value = call('GET', key)
  local text = call('GET', meta)
  if not value and not text then return nil end
  local left = call('PTTL', value and key or meta)
  -- Between their first two commands there is a counter without a text: held, by nobody we know.
  local owner, words, since = '', nil, nil
  if text then owner, words, since = read_text(text) end
  return {owner = owner, words = words, since = since and math.min(since, now) or nil, depth = 1,
    left = left, leaving = not value,
    -- Whoever loses raises the counter, and some time later gives it the ttl that it wanted for itself.
    is_anyones = value,
    -- A counter of ours always has a ttl. Beside our text this one is of somebody who has won it and
    -- not yet said so.
    began_anew = value == '1' and left == -1}
end

settle = function(left_ms)
  call('PEXPIRE', key, left_ms)
  call('PEXPIRE', meta, left_ms)
end

hurry = function()
  if foreign.left >= 0 and foreign.left <= LEAVING_MS then return end
  foreign.left = LEAVING_MS
  call('PEXPIRE', meta, LEAVING_MS)
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
    .. ',"locked_at":"' .. iso(hold.since)
    .. format('.%03dZ"}', math.floor(hold.since / 1000) % 1000)
end

local function put(held)
  if held.known then
    if not held.left_ms then return end
    call('PEXPIRE', key, held.left_ms)
    call('PEXPIRE', meta, held.left_ms)
  else
    call('SET', key, '1', 'PX', held.left_ms)
    call('SET', meta, describe(held.owner, held.hold), 'PX', held.left_ms)
  end
end

local function clear() call('DEL', key, meta) end
