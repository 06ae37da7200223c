local held, agreed = redis.call('GET', KEYS[1]), ARGV[4]
-- Even where nobody holds it. Only if it must: a server that is out of memory would not allow it.
if agreed and tonumber(redis.call('GET', KEYS[4]) or 0) < tonumber(agreed) then
  redis.call('SET', KEYS[4], agreed)
end
if not held then return 5 end
if string.sub(held, 1, #ARGV[1]) == ARGV[1] then
  local left, ttl_ms = redis.call('PTTL', KEYS[1]), tonumber(ARGV[2])
  local renewed = held
  if left < ttl_ms and string.sub(held, -1) ~= '+' then
    -- How long it is held can be told from what is left of its first ttl, but only now.
    local time = redis.call('TIME')
    local wall = time[1] * 1000000 + time[2]
    local asked = tonumber(string.sub(held, -27, -17))
    renewed = held .. string.format('%016.0f+', wall - asked + left * 1000)
  end
  local since = string.sub(renewed, -1) == '+' and string.sub(renewed, -17) or ''
  local fence = string.sub(renewed, -16 - #since, -1 - #since)
  if agreed then
    fence = string.format('%016d', agreed)
    renewed = string.sub(renewed, 1, -17 - #since) .. fence .. since
  end
  if left < ttl_ms then left = ttl_ms end
  -- This goes first, since a server that is out of memory would not allow the SET before it.
  redis.call('PEXPIRE', KEYS[1], left)
  if renewed ~= held then redis.call('SET', KEYS[1], renewed, 'PX', left) end
  return {0, 1, fence, left * 1000}
end
