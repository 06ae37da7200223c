-- A name that nobody holds or waits for. This stands at the top because even the functions further
-- down cost time to be made.
local held = redis.call('GET', KEYS[1])
if not held and (not ARGV[3] or string.sub(ARGV[3], 43, 58) == '0000000000000000') then
  local fence = redis.call('INCR', KEYS[4])
  -- The counter was raised to the clock when the connection was made, unless the caller says that it
  -- was not. A small number has lost everything since.
  if fence < 1e9 or ARGV[3] and string.sub(ARGV[3], 1, 1) == '1' then
    local time = redis.call('TIME')
    local wall = time[1] * 1000000 + time[2]
    if fence < wall then fence = redis.call('INCRBY', KEYS[4], wall + 10000 - fence) end
  end
  redis.call('PSETEX', KEYS[1], ARGV[2], ARGV[1] .. string.format('%016d', fence))
  return fence
end
-- A plain try that meets a mutex in somebody else's hands: nothing changes.
if held and not ARGV[3] and string.sub(held, 1, 1) == '1' then
  local tail = string.sub(held, -1) == '+' and -82 or -65
  local same = string.sub(held, tail, tail + 11) == string.sub(ARGV[1], -49, -38)
  local mine = string.sub(held, 2, string.find(held, '\0', 18, true))
  if same and string.sub(held, tail, tail) == '1'
      and string.sub(ARGV[1], 2, #mine + 1) ~= mine then
    local time = redis.call('TIME')
    return {time[1] * 1000000 + time[2], 2, redis.call('PTTL', KEYS[1]) * 1000, 1, held}
  end
end
