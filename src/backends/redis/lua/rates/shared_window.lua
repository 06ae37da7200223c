-- The counters of other programs, one for each window. All count what they deny too. Which window
-- it is only this server's clock can tell: KEYS[1] is what their keys begin with.
local verb, limit, window_s, cost, layout =
  ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local call = redis.call

local clock = call('TIME')
local seconds = tonumber(clock[1])
local begin = seconds - math.fmod(seconds, window_s)
local key = KEYS[1] .. string.format('%.0f', layout == 'n8n' and begin / window_s or begin)
local value = call('GET', key) or '0'
if not string.find(value, '^%d+$') or #value > 15 then
  return redis.error_reply('WRONGTYPE this key is no counter of hits')
end
if verb == 'reset' then
  call('DEL', key)
  return {0, 0, 0}
end

local count = tonumber(value)
local is_allowed = count + cost <= limit
if verb == 'check' then
  count = call('INCRBY', key, cost)
  -- n8n sets the ttl with each hit, in a command of its own: where that one never came, a counter
  -- without a ttl is left behind. RedisX sets it with the first.
  if layout == 'n8n' or call('PTTL', key) < 0 then call('PEXPIRE', key, window_s * 1000) end
end
local left = (begin + window_s - seconds) * 1000000 - clock[2]
return {count, is_allowed and 0 or left, count > 0 and left or 0}
