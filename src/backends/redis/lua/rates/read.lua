-- A limit in Holdfast's own layout. The same as src/model/rate_limit.cpp, which is the definition.
-- Every number is whole and below 2^53. docs/stores/redis.md has the bytes.
local key, verb = KEYS[1], ARGV[1]
local call, sub, format, floor = redis.call, string.sub, string.format, math.floor
local NOT_OURS = 'WRONGTYPE this key is no rate limit'

local clock = call('TIME')
local now = clock[1] * 1000000 + clock[2]
local value = call('GET', key)
-- `from` is where the algorithm's own part begins, if there is one that still counts.
local seen, ahead, expires, first, from = 0, 0, 0, 0, nil
if value then
  local form, last_seen, was_ahead, ends, number, position =
    string.match(value, '^([fsb])(%d+) (%d+) (%d+) (%d+) ()')
  if not form then return redis.error_reply(NOT_OURS) end
  if verb == 'reset' then call('DEL', key) end
  expires = tonumber(ends)
  if form == FORM and expires > now then
    seen, ahead, first, from = tonumber(last_seen), tonumber(was_ahead), tonumber(number), position
  end
end
if verb == 'reset' then return {0, 0, 0} end

-- A clock that was set back counts as if it had stood still.
local was_set_back = now + ahead < seen
if was_set_back then ahead = seen - now end
local time = now + ahead
local is_check = verb == 'check'
local count, retry, reset = 0, 0, 0
local rest, last = '', ''
