local held = redis.call('GET', KEYS[1])
if not held then return 5 end
if string.sub(held, 1, #ARGV[1]) == ARGV[1] then
  local left = redis.call('PTTL', KEYS[1])
  local since = string.sub(held, -1) == '+'
  if not since then
    -- How long it is held can be told from what is left of its first ttl, but only now.
    local time = redis.call('TIME')
    local wall = time[1] * 1000000 + time[2]
    local asked = tonumber(string.sub(held, -27, -17))
    held = held .. string.format('%016.0f+', wall - asked + left * 1000)
  end
  local fence = string.sub(held, -33, -18)
  local ttl_ms = tonumber(ARGV[2])
  if left < ttl_ms then left = ttl_ms end
  -- This goes first, since a server that is out of memory would not allow the SET before it.
  redis.call('PEXPIRE', KEYS[1], left)
  if not since then redis.call('SET', KEYS[1], held, 'PX', left) end
  return {0, 1, fence, left * 1000}
end
