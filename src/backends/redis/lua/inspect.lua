-- Looking changes nothing. The records go out as they are.
local time = redis.call('TIME')
local reply = {time[1] * 1000000 + time[2], redis.call('GET', KEYS[1]) or '', redis.call('PTTL', KEYS[1])}
if string.sub(reply[2], 1, 1) == '2' then
  reply[4] = redis.call('ZRANGE', KEYS[3], 0, -1, 'WITHSCORES')
  reply[5] = redis.call('HGETALL', KEYS[2])
end
return reply
