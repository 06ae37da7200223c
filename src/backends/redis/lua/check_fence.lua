-- The newest fence of a resource, as decimal digits without leading zeros. The numbers are compared
-- as text, since Lua's own lose digits above 2^53.
local guard, fence, keep_ms = KEYS[1], ARGV[1], ARGV[2]
local newest = redis.call('GET', guard) or '0'
if not string.find(newest, '^%d+$') then
  return redis.error_reply('WRONGTYPE this key is no fence guard')
end
if #fence < #newest or (#fence == #newest and fence < newest) then return {0, newest} end
redis.call('SET', guard, fence, 'PX', keep_ms)
return {1, fence}
