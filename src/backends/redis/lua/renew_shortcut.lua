local held, agreed = redis.call('GET', KEYS[1]), tonumber(ARGV[4])
local is_mine = held and string.sub(held, 1, #ARGV[1]) == ARGV[1]
local is_free = agreed and tonumber(redis.call('GET', KEYS[4]) or 0) < agreed
local is_taken = ARGV[5] and not is_free
-- Even where nobody holds it. Only if it must: a server that is out of memory would not allow it.
if is_free and (is_mine or not held) then redis.call('SET', KEYS[4], ARGV[4]) end
if not held then return 5 end
local since = string.sub(held, -1) == '+' and string.sub(held, -17) or ''
local fence = string.sub(held, -16 - #since, -1 - #since)
-- A proposed fence that others may have is a case for the whole step, unless this lease has it.
if is_mine and not (is_taken and tonumber(fence) < agreed) then
  local left, ttl_ms = redis.call('PTTL', KEYS[1]), tonumber(ARGV[2])
  local renewed, held_for = held, nil
  if since ~= '' then
    local time = redis.call('TIME')
    held_for = time[1] * 1000000 + time[2] - tonumber(string.sub(since, 1, 16))
  else
    -- This can be told from what is left of its first ttl, but only until that is renewed.
    held_for = tonumber(string.sub(held, -27, -17)) - left * 1000
    if left < ttl_ms then
      local time = redis.call('TIME')
      since = string.format('%016.0f+', time[1] * 1000000 + time[2] - held_for)
      renewed = held .. since
    end
  end
  if agreed and not is_taken then
    fence = string.format('%016d', agreed)
    renewed = string.sub(renewed, 1, -17 - #since) .. fence .. since
  end
  if left < ttl_ms then left = ttl_ms end
  -- This goes first, since a server that is out of memory would not allow the SET before it.
  redis.call('PEXPIRE', KEYS[1], left)
  if renewed ~= held then redis.call('SET', KEYS[1], renewed, 'PX', left) end
  return {0, 1, fence, left * 1000, held_for}
end
