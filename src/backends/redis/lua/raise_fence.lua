-- Brings the counter of fences to the clock, so that no fence that this server has forgotten is given
-- out again. 10 ms ahead of it, as every fence is that was compared with the clock: forgotten ones
-- may be as far ahead. Writes nothing where that is so already.
local time = redis.call('TIME')
local least = time[1] * 1000000 + time[2] + 10000
if tonumber(redis.call('GET', KEYS[1]) or 0) < least then
  redis.call('SET', KEYS[1], string.format('%.0f', least))
end
return 1
