-- The newest fence of a resource, as decimal digits without leading zeros. The numbers are compared
-- as text, since Lua's own lose digits above 2^53.
--
-- must_write: '1' where replicas confirm what this connection wrote, so that there is something to confirm.
local guard, fence, keep_ms, must_write = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local newest = redis.call('GET', guard) or '0'
if not string.find(newest, '^%d+$') then
  return redis.error_reply('WRONGTYPE this key is no fence guard')
end
if #fence < #newest or (#fence == #newest and fence < newest) then return {0, newest} end
if fence == newest and must_write ~= '1' and redis.call('PTTL', guard) * 8 >= keep_ms * 7 then
  return {1, fence}
end
redis.call('SET', guard, fence, 'PX', keep_ms)
return {1, fence}
