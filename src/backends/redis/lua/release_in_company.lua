-- A mutex that is given to the next in line, or to nobody: the other half of contention.
if not ARGV[3] and (string.sub(held, 1, 3) == '210' or string.sub(held, 1, 3) == '211') then
  local call, sub = redis.call, string.sub
  held = call('GET', KEYS[1])
  local id = sub(ARGV[1], 2, -2)
  local time = call('TIME')
  local now = time[1] * 1000000 + time[2]
  local mine = call('HGET', KEYS[2], 'h' .. id)
  local first = call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')
  local head = tonumber(first[2] or 0)
  if mine and sub(mine, -37, -28) == '4294967295'
      and tonumber(call('ZSCORE', KEYS[3], 'h' .. id) or 0) > now then
    if head >= 0 then
      call('DEL', KEYS[1], KEYS[2], KEYS[3])
      return 4
    end
    local waiter = call('HGET', KEYS[2], first[1]) or ''
    local lease = math.min(tonumber(sub(waiter, -11)) or 0, tonumber(sub(waiter, 17, 36)) or 0)
    local channel = 'hf:' .. sub(waiter, -27, -12)
    local listeners = head ~= -9000000000000000 and sub(waiter, -37, -28) == '4294967295'
      and tonumber(sub(held, 30, 45)) > now + lease
      and redis.pcall('PUBSUB', 'NUMSUB', channel)
    if listeners and not listeners.err and listeners[2] > 0 then
      local next = sub(first[1], 2)
      -- Allowed without memory, and then so is the rest.
      call('HDEL', KEYS[2], '')
      local fence = call('INCR', KEYS[4])
      if fence < now then fence = call('INCRBY', KEYS[4], now + 10000 - fence) end
      local stamp = string.format('%016d%016d', fence, now)
      call('HDEL', KEYS[2], 'h' .. id, first[1])
      call('HSET', KEYS[2], 'h' .. next, '1' .. stamp .. sub(waiter, 53))
      call('ZREM', KEYS[3], 'h' .. id, first[1])
      call('ZADD', KEYS[3], now + lease, 'h' .. next)
      -- When all of it is written, and never before.
      redis.pcall('PUBLISH', channel,
        'g' .. stamp .. string.format('%016d', lease) .. next .. '\0' .. KEYS[1])
      return 4
    end
  end
end
